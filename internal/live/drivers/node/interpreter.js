'use strict';
// Process 2 of two: runs cells of code one after the other in one global scope.
const fs = require('fs');
const inspector = require('inspector');
const net = require('net');
const path = require('path');
const util = require('util');
const vm = require('vm');
const { Console } = require('console');
const { createRequire } = require('module');
const { Writable } = require('stream');
const { pathToFileURL } = require('url');
const { Frames, frame, writeAll } = require('./frames');

const settings = JSON.parse(process.argv[2]);
const KEPT_SOURCES = 1000;

// current is the cell that runs, null between cells.
let current = null;
let last = { ended: true };
const sources = new Map();

const control = new net.Socket({ fd: 3, readable: true, writable: true });

function say(header, body) {
  control.write(frame(header, body));
}

// Out is a standard stream whose writes have happened when they return, so that a kill does not lose them.
class Out extends Writable {
  constructor(fd) {
    super({ decodeStrings: true });
    this.fd = fd;
    this.on('error', () => {}); // the code has closed it
  }

  _write(data, _, done) {
    try {
      writeAll(this.fd, data);
      done();
    } catch (e) {
      done(e);
    }
  }
}

function newStreams() {
  for (const [name, fd] of [['stdout', 1], ['stderr', 2]]) {
    Object.defineProperty(process, name, { value: new Out(fd), configurable: true, writable: true, enumerable: true });
  }
  // Node's own console has the inspector keep what is printed.
  globalThis.console = new Console({ stdout: process.stdout, stderr: process.stderr });
  globalThis.console.Console = Console;
}

let hadStdin = true;
let stdin = null;
Object.defineProperty(process, 'stdin', {
  configurable: true, enumerable: true,
  get: () => stdin || (stdin = fs.createReadStream(null, { fd: 0, autoClose: false })),
});

// giveStdin puts a file with the data in the place of descriptor 0.
function giveStdin(data) {
  if (data.length === 0 && !hadStdin) return;
  hadStdin = data.length > 0;
  stdin = null;
  let name = '/dev/null';
  if (hadStdin) {
    name = path.join(fs.mkdtempSync('/tmp/stdin-'), 'stdin');
    fs.writeFileSync(name, data);
  }
  try {
    fs.closeSync(0);
  } catch { /* the code has */ }
  fs.openSync(name, 'r'); // takes the lowest descriptor that is free
  if (hadStdin) fs.rmSync(path.dirname(name), { recursive: true });
}

// How the code is evaluated: as the console of a browser does it, with declarations that can be repeated and await at top level.
const session = new inspector.Session();
session.connect();
let taken;
const take = (value) => { taken = value; };
let takeId;
Object.defineProperty(globalThis, '$take', { value: take, configurable: true });
session.post('Runtime.evaluate', { expression: '$take' }, (_, answer) => { takeId = answer.result.objectId; });
delete globalThis.$take;
// Within this script an interrupt ends the code, whatever it does.
const interruptible = new vm.Script('$evaluate()');
Object.defineProperty(globalThis, '$evaluate', { value: () => evaluate() });

// What waits for interrupts in Node can miss the end of a script that ends as one comes, and then interrupts the next script. That is this one.
const waiting = new vm.Script('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)');
function awaitLateInterrupt() {
  try {
    waiting.runInThisContext({ breakOnSigint: true });
  } catch {
    // it has come
  }
}

// local turns the inspector's description of a value into the value.
function local(remote) {
  const { objectId, unserializableValue, value } = remote;
  const argument = objectId ? { objectId } : unserializableValue ? { unserializableValue } : { value };
  if (remote.type === 'undefined') return undefined;
  session.post('Runtime.callFunctionOn', { objectId: takeId, functionDeclaration: 'function (value) { this(value); }', arguments: [argument] });
  const found = taken;
  taken = undefined;
  return found;
}

// import() does not work in code that comes through the inspector, so it is called by another name.
const IMPORT = /\/\/.*|\/\*[^]*?\*\/|'(?:\\[^]|[^'\\\n])*'|"(?:\\[^]|[^"\\\n])*"|`(?:\\[^]|[^`\\])*`|(?<![\w$.])import(?=\s*\()/g;
Object.defineProperty(globalThis, '$mport', {
  value: (name, options) => import(/^\.{0,2}\//.test(name) ? pathToFileURL(path.resolve('/workspace', name)).href : name, options),
});

let expression = '';
let answered;
function evaluate() {
  session.post('Runtime.evaluate', { expression, replMode: true, awaitPromise: true, objectGroup: 'cell' }, answered);
}

function run(header, body) {
  const own = { number: header.cell, name: header.name || 'cell', ended: false, trace: '' };
  last = current = own;
  const source = body.subarray(0, header.source).toString();
  try {
    giveStdin(body.subarray(header.source));
  } catch (e) {
    own.trace += `stdin could not be given: ${e.code}\n`;
  }
  if (process.stdout.destroyed || process.stderr.destroyed) newStreams();
  own.url = own.name.replace(/\s+/g, '-');
  sources.set(own.url, { name: own.name, rows: source.split('\n') });
  if (sources.size > KEPT_SOURCES) sources.delete(sources.keys().next().value);
  expression = source.replace(IMPORT, (found) => (found === 'import' ? '$mport' : found)) + `\n//# sourceURL=${own.url}`;
  if (header.interrupted) awaitLateInterrupt();
  answered = (error, answer) => {
    if (!own.ended) setImmediate(settle, own, error, answer); // by then it is known which rejections nobody handles
  };
  try {
    interruptible.runInThisContext({ breakOnSigint: true });
  } catch (e) {
    if (e.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED') finish(own, 'error', 1, 'interrupted\n');
    else fail(own, e);
  }
}

// settle ends a cell whose code has come to its end.
function settle(own, error, answer) {
  if (own.ended) return;
  if (error) {
    finish(own, 'error', 1, `${error.message}\n`);
  } else if (answer.exceptionDetails) {
    const { exception, text } = answer.exceptionDetails;
    fail(own, exception ? local(exception) : new Error(text), answer.exceptionDetails);
  } else {
    succeed(own, local(answer.result));
  }
  session.post('Runtime.releaseObjectGroup', { objectGroup: 'cell' });
}

function succeed(own, value) {
  if (own.trace) return finish(own, 'error', 1, '');
  if (value === undefined) return finish(own, 'ok', 0, '');
  try {
    const text = util.inspect(value);
    globalThis._ = value;
    finish(own, 'ok', 0, '', text);
  } catch (e) { // inspecting can run code
    fail(own, e);
  }
}

function fail(own, error, details) {
  if (error !== EXIT) finish(own, 'error', 1, describe(error, own, details));
}

function finish(own, status, code, trace, value = '') {
  if (own.ended) return;
  own.ended = true;
  current = null;
  const traceBytes = cut(own.trace + trace, 1 << 18);
  const valueBytes = cut(value, settings.values);
  say({ t: 'done', cell: own.number, status, code, trace: traceBytes.length }, Buffer.concat([traceBytes, valueBytes]));
}

// describe shows an error with the line of the cell it comes from and without our own frames.
function describe(error, own, { lineNumber: line, columnNumber: column } = {}) {
  let text;
  try {
    text = error instanceof Error ? util.inspect(error) : `Uncaught ${util.inspect(error)}`;
  } catch (e) {
    text = 'an error that cannot be shown';
  }
  text = withoutOurs(text);
  let at = '';
  const place = /^\s+at (?:.*\()?([^\s()]+):(\d+):(\d+)\)?$/m.exec(text);
  if (place && sources.has(place[1])) {
    at = excerpt(place[1], Number(place[2]), Number(place[3]));
  } else if (error instanceof SyntaxError && line !== undefined) {
    at = excerpt(own.url, line + 1, column + 1);
    if (/import statement/.test(error.message)) text += '\nUse require() or await import() instead.';
  }
  // V8 takes no names with spaces.
  return `${at}${text.replace(/[^\s()]+(?=:\d+:\d+\)?$)/gm, (url) => sources.get(url)?.name ?? url)}\n`;
}

// withoutOurs leaves out the frames that are ours, and those below them, which called us.
function withoutOurs(text) {
  let below = false;
  return text.split('\n').filter((row) => {
    below = /^\s+at /.test(row) && (below || /\/workspace\/\.sandloop\/|node:inspector:|node:vm:|node:internal\//.test(row));
    return !below || !/^\s+at /.test(row);
  }).join('\n');
}

function excerpt(url, line, column) {
  const { name, rows } = sources.get(url);
  const row = rows[line - 1];
  if (row === undefined) return '';
  return `${name}:${line}\n${row.slice(0, 500)}\n${column ? ' '.repeat(Math.min(column - 1, 500)) + '^\n' : ''}\n`;
}

// cut returns the bytes of a text, head and tail of a long one.
function cut(text, size) {
  const data = Buffer.from(text);
  if (data.length <= size) return data;
  const half = (size >> 1) - 50;
  const note = `\n[... ${data.length - 2 * half} of ${data.length} bytes not kept ...]\n`;
  return Buffer.concat([data.subarray(0, half), Buffer.from(note), data.subarray(data.length - half)]);
}

// What the code does after it has run, or in callbacks: an error of the cell that runs, else text for the next one.
function uncaught(error) {
  if (error === EXIT) return;
  const text = describe(error, last);
  if (current) current.trace += text;
  else process.stderr.write(text);
}
process.on('unhandledRejection', uncaught);
process.on('uncaughtException', (error) => {
  uncaught(error);
  if (current && error !== EXIT) finish(current, 'error', 1, '');
});
process.on('SIGINT', () => {
  if (current) finish(current, 'error', 1, 'interrupted\n');
});

const EXIT = Symbol('exit');
process.exit = process.reallyExit = (code) => {
  const status = Number(code ?? process.exitCode ?? 0) & 0xff;
  process.emit('exit', status);
  if (current) finish(current, 'exit', status, '');
  else process.kill(process.pid, 'SIGKILL');
  throw EXIT; // what the code does until it is killed is its own
};

// display shows a value before the cell has ended: text, or bytes with their media type.
function display(value, mime) {
  const bytes = mime && (typeof value === 'string' || value instanceof Uint8Array);
  say({ t: 'display', mime: bytes ? String(mime) : 'text/plain' }, bytes ? Buffer.from(value) : cut(util.inspect(value), settings.values));
}

process.argv = [process.execPath];
newStreams();
const workspaceRequire = createRequire('/workspace/cell.js');
const module_ = { exports: {}, id: '.', filename: null, children: [], paths: [], loaded: false };
workspaceRequire.main = module_;
for (const [name, value] of Object.entries({
  require: workspaceRequire, module: module_, exports: module_.exports, __dirname: '/workspace', __filename: '/workspace/cell.js', display,
})) {
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true, enumerable: false });
}

const cells = new Frames(run);
control.on('data', (data) => cells.add(data));
control.on('end', () => process.kill(process.pid, 'SIGKILL'));
say({ t: 'ready' }, Buffer.alloc(0));
