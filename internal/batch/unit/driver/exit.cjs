// Runs a test file as a program. It passes when it is loaded and nothing is left to do, without an
// exception and without process.exit. Argument: the test file.
'use strict';
const fs = require('node:fs');

const nonce = fs.readFileSync(0, 'utf8').split('\n')[0].trim();
const path = require('node:path');
const { pathToFileURL } = require('node:url');

const test = process.argv[2];
let settled = false;
let ended = false;

function report(fields) {
  if (settled) return;
  settled = true;
  fs.writeSync(1, `\n${nonce} ${JSON.stringify(fields)}\n`);
}

function fail(problem) {
  console.error(problem);
  const text = String((problem && problem.message) || problem).split('\n')[0].slice(0, 500);
  report({ passed: 0, failed: [`${test}: ${text}`] });
  process.exit(0);
}

process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);
process.on('beforeExit', () => { ended = true; });
process.on('exit', (code) => {
  if (ended && code === 0) report({ passed: 1 });
  else if (ended) report({ passed: 0, failed: [`${test}: exit code ${code}`] });
  else report({ passed: 0, error: 'the program ended itself before the test had ended' });
  process.exitCode = 0;
});
process.argv.splice(2);
import(pathToFileURL(path.resolve(test))).catch(fail);
