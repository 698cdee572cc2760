'use strict';
// Process 1 of two: carries frames between the worker and the interpreter, its child, and looks after the files.
//
// The interpreter runs the code. It has no way to the worker but through this process, which goes on when the code
// kills or blocks the interpreter, so that what was written is not lost.
const fs = require('fs');
const net = require('net');
const path = require('path');
const { spawn } = require('child_process');
const { Counters, fullDisk } = require('./counters');
const { Frames, frame, writeAll } = require('./frames');
const { PIECE, Workspace } = require('./workspace');

const LONGEST_OUTPUT = 64 << 10;

const settings = JSON.parse(process.argv[2]);
const workspace = new Workspace('/workspace', settings.quota, settings.files);
const counters = new Counters();
let cell = 0, before, started, remind, interrupted = false;
// Of the files that come before a cell: whether there were any, which is being written, and what went wrong.
let told = false, writing = null, trouble = '';

const child = spawn(process.execPath, [...process.execArgv, path.join(__dirname, 'interpreter.js'), process.argv[2]], {
  stdio: ['ignore', 'pipe', 'pipe', 'pipe'], detached: true, cwd: '/workspace',
});
const streams = [child.stdout, child.stderr];
const control = child.stdio[3];
// Where they can be read directly: between cells they are not, and what threads and other processes write then comes with the next.
const descriptors = streams.map((stream) => stream._handle.fd);
const controlDescriptor = control._handle.fd;

function say(header, body) {
  writeAll(1, frame(header, body));
}

function forward(i, data) {
  for (let at = 0; at < data.length; at += LONGEST_OUTPUT) say({ t: 'out', stream: i + 1 }, data.subarray(at, at + LONGEST_OUTPUT));
}

const buffer = Buffer.alloc(LONGEST_OUTPUT);

// readNow reads what has come on a descriptor, null if nothing has. It is valid until the next call.
function readNow(stream, fd) {
  if (stream.destroyed) return null;
  try {
    const size = fs.readSync(fd, buffer, 0, buffer.length, null);
    return size > 0 ? buffer.subarray(0, size) : null;
  } catch {
    return null;
  }
}

// drain sends what has been written by now. Others may go on writing for ever.
function drain() {
  streams.forEach((stream, i) => {
    for (let data; (data = stream.read()) !== null;) forward(i, data);
    for (let left = 64, data; left > 0 && (data = readNow(stream, descriptors[i])) !== null; left--) forward(i, data);
  });
}

function fromWorker(header, body) {
  if (header.t === 'write') {
    write(header, body);
  } else if (header.t === 'delete') {
    workspace.delete(header.path);
    told = true;
  } else if (header.t === 'run') {
    begin(header, body);
  } else if (header.t === 'interrupt' && header.cell === cell) {
    interrupted = true;
    signal('SIGINT');
    remind = setTimeout(signal, 400, 'SIGINT'); // the interpreter may not even have begun
  } else if (header.t === 'kill' && header.cell === cell) {
    signal('SIGKILL');
  }
}

// write writes a piece of a file. Nothing more is written of one that could not be.
function write(header, body) {
  const first = writing === null;
  told = true;
  if (first || writing === header.path) {
    writing = header.path;
    try {
      workspace.write(header.path, body, header.exec, header.more, first);
    } catch (e) {
      trouble = trouble || `${header.path} could not be written: ${e.code}\n`;
      writing = '';
    }
  }
  if (!header.more) writing = null;
}

function begin(header, body) {
  cell = header.cell;
  if (told) say({ t: 'began', cell });
  if (trouble) say({ t: 'out', stream: 2 }, Buffer.from(trouble));
  told = false;
  trouble = '';
  before = counters.read();
  started = process.hrtime.bigint();
  streams.forEach((stream) => stream.resume());
  control.write(frame({ ...header, interrupted }, body));
  interrupted = false;
}

// signal sends a signal to the interpreter's group, where the processes are that it waits for.
function signal(name) {
  try {
    process.kill(-child.pid, name);
  } catch {
    child.kill(name);
  }
}

function fromChild(header, body) {
  if (header.t === 'ready') {
    fs.rmSync(__dirname, { recursive: true, force: true });
    workspace.begin();
    say({ t: 'hello', version: 1 });
  } else if (header.t === 'display' && cell) {
    pieces({ t: 'display', mime: header.mime.slice(0, 100) }, [body]);
  } else if (header.t === 'done' && header.cell === cell) {
    finish({ t: 'done', status: header.status, code: header.code }, body.subarray(0, header.trace), body.subarray(header.trace));
    if (header.status === 'exit') {
      signal('SIGKILL');
      process.exit(header.code & 0xff);
    }
  }
}

// finish sends all that a cell did, and that it is over.
function finish(header, trace = Buffer.alloc(0), value = Buffer.alloc(0)) {
  const used = counters.since(before);
  used.wall = Number(process.hrtime.bigint() - started) / 1e9;
  if (header.status !== 'ok') used.full = fullDisk();
  drain();
  streams.forEach((stream) => stream.pause());
  forward(1, trace);
  sendChanges();
  say({ ...header, cell, ...used }, value);
  cell = 0;
  clearTimeout(remind);
}

function sendChanges() {
  const [changed, deleted, refused] = workspace.changes();
  for (const [name, status] of changed) {
    try {
      pieces({ t: 'changed', path: name, exec: (Number(status.mode) & 0o100) !== 0 }, workspace.content(name, Number(status.size)));
    } catch (e) { // when it is opened, before a piece has been sent
      refused.push({ path: name.slice(0, 500), reason: `cannot be read: ${e.code}` });
    }
  }
  for (let at = 0; at < deleted.length; at += 8) say({ t: 'deleted', paths: deleted.slice(at, at + 8) });
  if (refused.length > 100) refused.splice(100, Infinity, { path: '.', reason: `${refused.length - 100} more were refused` });
  for (let at = 0; at < refused.length; at += 8) say({ t: 'refused', refused: refused.slice(at, at + 8) });
}

// pieces sends a body in pieces, all but the last with more.
function pieces(header, parts) {
  let held = Buffer.alloc(0);
  for (const part of parts) {
    for (let at = 0; at < part.length; at += PIECE) {
      if (held.length > 0) say({ ...header, more: true }, held);
      held = part.subarray(at, at + PIECE);
    }
  }
  say(header, held);
}

const childFrames = new Frames(fromChild);
control.on('data', (data) => childFrames.add(data));
control.on('error', () => {}); // the interpreter has ended, which shows below
control.on('end', () => signal('SIGKILL')); // it has closed its only way to be heard
streams.forEach((stream, i) => {
  stream.on('data', (data) => forward(i, data));
  stream.pause();
});

// How the interpreter ended is told, and this process ends in the same way.
child.on('exit', (code, name) => {
  for (let data; (data = readNow(control, controlDescriptor)) !== null;) childFrames.add(Buffer.from(data)); // its last words
  if (cell) finish({ t: 'gone', code: code ?? 0 });
  else say({ t: 'gone', code: code ?? 0 });
  if (name) process.kill(process.pid, name);
  process.exit(name ? 1 : code);
});

const workerFrames = new Frames(fromWorker);
const worker = new net.Socket({ fd: 0, readable: true, writable: false });
worker.on('data', (data) => workerFrames.add(data));
worker.on('end', () => process.exit(0));
