// Has node:test run the test files that are its arguments, each in a process of its own, and counts.
'use strict';
const fs = require('node:fs');

const nonce = fs.readFileSync(0, 'utf8').split('\n')[0].trim();
const path = require('node:path');
const { run } = require('node:test');

const files = process.argv.slice(2).map((file) => path.resolve(file));
const tally = { passed: 0, failed: [] };
const broken = [];

function end() {
  if (broken.length > 0) tally.error = broken.join('; ');
  fs.writeSync(1, `\n${nonce} ${JSON.stringify(tally)}\n`);
  process.exit(0);
}

function reason(details) {
  const error = details && details.error;
  const cause = error && (error.cause || error);
  return String((cause && cause.message) || cause || 'failed').split('\n')[0].slice(0, 500);
}

if (typeof run !== 'function') {
  broken.push(`node ${process.version} cannot run test files: want 18.9 or later`);
  end();
}
const stream = run({ files, concurrency: false });
stream.on('test:pass', (test) => {
  if (files.includes(test.name)) {
    // A file without a test of its own passes as one, and so does one that ended on the way.
    broken.push(`${path.basename(test.name)}: no test has ended`);
  } else if (!test.skip && !test.todo && (test.details || {}).type !== 'suite') {
    tally.passed++;
  }
});
stream.on('test:fail', (test) => {
  const kind = ((test.details || {}).error || {}).failureType;
  if (test.todo || kind === 'subtestsFailed') return;
  if (files.includes(test.name)) {
    broken.push(`${path.basename(test.name)}: ${reason(test.details)}`);
    return;
  }
  tally.failed.push(test.name);
  process.stderr.write(`${test.name}: ${reason(test.details)}\n`);
});
stream.on('test:stdout', (text) => process.stdout.write(text.message));
stream.on('test:stderr', (text) => process.stderr.write(text.message));
stream.on('error', (error) => {
  broken.push(String(error));
  end();
});
stream.on('end', end);
stream.resume();
