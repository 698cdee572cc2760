'use strict';
// Process 1 of two: carries frames between the worker and the interpreter, its child, and looks after the files.
//
// The interpreter runs the code. It has no way to the worker but through this process, which goes on when the code
// kills or blocks the interpreter, so that what was written is not lost.
const fs = require('fs');
const net = require('net');
const path = require('path');
const { spawn } = require('child_process');

const PIECE = 128 << 10;
const LONGEST_OUTPUT = 64 << 10;
const RACY = 50_000_000n; // nanoseconds within which the kernel's clock may give two writes the same time
const C = fs.constants;

function frame(header, body = Buffer.alloc(0)) {
  const head = Buffer.from(JSON.stringify(header));
  const prefix = Buffer.alloc(8);
  prefix.writeUInt32BE(head.length, 0);
  prefix.writeUInt32BE(body.length, 4);
  return Buffer.concat([prefix, head, body]);
}

function writeAll(fd, data) {
  for (let at = 0; at < data.length;) at += fs.writeSync(fd, data, at);
}

// Frames takes a stream of frames apart.
class Frames {
  constructor(handle) {
    this.handle = handle;
    this.parts = [];
    this.size = 0;
    this.need = 8;
  }

  add(data) {
    this.parts.push(data);
    this.size += data.length;
    if (this.size < this.need) return; // joined once, however many pieces a long frame comes in
    let held = Buffer.concat(this.parts);
    for (this.need = 8; held.length >= 8; held = held.subarray(this.need), this.need = 8) {
      const end = 8 + held.readUInt32BE(0);
      this.need = end + held.readUInt32BE(4);
      if (held.length < this.need) break;
      this.handle(JSON.parse(held.subarray(8, end).toString()), held.subarray(end, this.need));
    }
    this.parts = [held];
    this.size = held.length;
  }
}

// Counters are what the kernel counts for the container.
class Counters {
  constructor(root = '/sys/fs/cgroup') {
    this.v2 = fs.existsSync(root + '/cgroup.controllers');
    const names = this.v2
      ? { cpu: 'cpu.stat', oom: 'memory.events', peak: 'memory.peak', now: 'memory.current', pids: 'pids.events' }
      : {
        cpu: 'cpuacct/cpuacct.usage', user: 'cpuacct/cpuacct.usage_user', system: 'cpuacct/cpuacct.usage_sys',
        oom: 'memory/memory.oom_control', peak: 'memory/memory.max_usage_in_bytes',
        now: 'memory/memory.usage_in_bytes', pids: 'pids/pids.events',
      };
    this.files = {};
    this.buffer = Buffer.alloc(4096);
    for (const [key, name] of Object.entries(names)) {
      try {
        this.files[key] = fs.openSync(path.join(root, name));
      } catch { /* not known to this kernel */ }
    }
  }

  number(key, field) {
    let text = '';
    try {
      text = this.buffer.toString('latin1', 0, fs.readSync(this.files[key], this.buffer, 0, 4096, 0));
    } catch { /* as above */ }
    if (field === undefined) return Number(text) || 0;
    const line = text.split('\n').find((line) => line.startsWith(field + ' '));
    return line ? Number(line.slice(field.length)) : 0;
  }

  read() {
    const cpu = this.v2
      ? ['usage_usec', 'user_usec', 'system_usec'].map((field) => this.number('cpu', field) / 1e6)
      : ['cpu', 'user', 'system'].map((key) => this.number(key) / 1e9);
    return { cpu, peak: this.number('peak'), oom: this.number('oom', 'oom_kill'), pids: this.number('pids', 'max') };
  }

  // since is what was used since before, with the exact total split as the kernel's samples are.
  since(before) {
    const now = this.read();
    const [total, user, system] = now.cpu.map((value, i) => Math.max(0, value - before.cpu[i]));
    const own = user + system > 0 ? total * user / (user + system) : total;
    return {
      user: own, system: total - own, peak: now.peak > before.peak ? now.peak : this.number('now'),
      oom: now.oom - before.oom, pids: now.pids - before.pids,
    };
  }
}

function fullDisk() {
  for (const dir of ['/tmp', '/workspace']) {
    try {
      const found = fs.statfsSync(dir);
      if (found.bavail === 0 || (found.files > 0 && found.ffree === 0)) return dir;
    } catch { /* older versions cannot tell */ }
  }
  return '';
}

function kindOf(status) {
  if (status.isSymbolicLink()) return 'is a link';
  if (status.isFIFO()) return 'is a FIFO';
  if (status.isSocket()) return 'is a socket';
  return 'is a device';
}

// Workspace tells what has changed below a folder.
class Workspace {
  constructor(root, quota, most) {
    Object.assign(this, { root, quota, most, known: new Map() });
  }

  begin() {
    for (const [name, status] of this.walk()) this.note(name, status);
  }

  note(name, status) {
    const signature = [status.size, status.mtimeNs, status.ctimeNs, status.ino, status.mode].join();
    const seen = { signature, regular: status.isFile(), digest: null };
    // Of a file that was changed just now a later change may show the same times.
    if (seen.regular && BigInt(Date.now()) * 1_000_000n - status.ctimeNs < RACY) seen.digest = this.digest(name);
    this.known.set(name, seen);
    return seen;
  }

  digest(name) {
    const hash = require('crypto').createHash('sha1');
    try {
      for (const piece of this.content(name)) hash.update(piece);
    } catch {
      return null;
    }
    return hash.digest('latin1');
  }

  // content yields the pieces of a regular file, of the size that it has when it is opened, up to most.
  * content(name, most = Infinity) {
    const fd = fs.openSync(path.join(this.root, name), C.O_RDONLY | C.O_NOFOLLOW | C.O_NONBLOCK);
    try {
      const status = fs.fstatSync(fd);
      if (!status.isFile()) throw Object.assign(new Error(), { code: 'EINVAL' });
      for (let left = Math.min(status.size, most); left > 0;) {
        const piece = Buffer.alloc(Math.min(PIECE, left));
        const size = fs.readSync(fd, piece, 0, piece.length, null);
        if (size === 0) return;
        left -= size;
        yield piece.subarray(0, size);
      }
    } finally {
      fs.closeSync(fd);
    }
  }

  // walk yields all files but ours, up to a number at which nothing is sent anyway. Names that are not UTF-8 have no status.
  * walk() {
    const folders = [''];
    let left = 4 * this.most + 10_000;
    while (folders.length > 0) {
      const folder = folders.pop();
      let names = [];
      try {
        names = fs.readdirSync(path.join(this.root, folder), 'buffer');
      } catch { /* it is gone or closed to us */ }
      for (const bytes of names) {
        if (left-- <= 0) return;
        const name = folder + bytes.toString();
        if (name === '.sandloop' || name === '.sandloop-out') continue;
        if (!Buffer.from(bytes.toString()).equals(bytes)) {
          yield [name, null];
          continue;
        }
        const status = fs.lstatSync(path.join(this.root, name), { bigint: true, throwIfNoEntry: false });
        if (!status) continue;
        if (status.isDirectory()) folders.push(name + '/');
        else yield [name, status];
      }
    }
  }

  write(name, data, executable, more, first) {
    const full = path.join(this.root, name);
    if (first) {
      fs.mkdirSync(path.dirname(full), { recursive: true });
      this.delete(name); // a link or a folder that the code has put in the way
    }
    const fd = fs.openSync(full, C.O_WRONLY | C.O_CREAT | C.O_APPEND | C.O_NOFOLLOW | C.O_NONBLOCK, 0o644);
    try {
      writeAll(fd, data);
      if (!more) {
        fs.fchmodSync(fd, executable ? 0o755 : 0o644);
        this.note(name, fs.fstatSync(fd, { bigint: true }));
      }
    } finally {
      fs.closeSync(fd);
    }
  }

  // delete removes a file or a folder, or all there is for a dot.
  delete(name) {
    try {
      const all = name === '.' ? fs.readdirSync(this.root, 'buffer') : [Buffer.from(name)];
      for (const bytes of all) fs.rmSync(Buffer.concat([Buffer.from(this.root + '/'), bytes]), { recursive: true, force: true });
    } catch { /* it shows as it is in the next walk */ }
    if (name === '.') this.known.clear();
    if (this.known.delete(name)) return;
    for (const below of this.known.keys()) { // perhaps it was a folder
      if (below.startsWith(name + '/')) this.known.delete(below);
    }
  }

  // changes returns the changed and the deleted paths and the refused files since the last time; nothing but
  // one refused if they are too many.
  changes() {
    const before = this.known;
    this.known = new Map();
    const changed = [], refused = [];
    let total = 0, count = 0;
    for (const [name, status] of this.walk()) {
      const old = before.get(name);
      if (status === null || Buffer.byteLength(name) > 1024) {
        this.known.set(name, { signature: '', regular: false, digest: null });
        if (!old) refused.push({ path: name.slice(0, 500), reason: 'its path is not UTF-8 or too long' });
        continue;
      }
      const seen = this.note(name, status);
      count += seen.regular ? 1 : 0;
      if (old && old.signature === seen.signature && (old.digest === null || old.digest === (seen.digest || this.digest(name)))) continue;
      if (seen.regular) {
        changed.push([name, status]);
        total += Number(status.size);
      } else {
        refused.push({ path: name.slice(0, 500), reason: kindOf(status) });
      }
    }
    if (count > this.most) return [[], [], [limited(`more than ${this.most} files are in the workspace`)]];
    if (total > this.quota) return [[], [], [limited(`changed files have ${total} bytes: at most ${this.quota} are kept`)]];
    return [changed, [...before.keys()].filter((name) => before.get(name).regular && !this.known.has(name)), refused];
  }
}

function limited(reason) {
  return { path: '.', reason, limit: true };
}

const settings = JSON.parse(process.argv[2]);
const workspace = new Workspace('/workspace', settings.quota, settings.files);
const counters = new Counters();
let cell = 0, before, started, remind;
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

// readNow reads what has come on a descriptor, null if nothing has.
function readNow(stream, fd) {
  if (stream.destroyed) return null;
  const data = Buffer.alloc(LONGEST_OUTPUT);
  try {
    const size = fs.readSync(fd, data, 0, data.length, null);
    return size > 0 ? data.subarray(0, size) : null;
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
  control.write(frame(header, body));
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
  for (let data; (data = readNow(control, controlDescriptor)) !== null;) childFrames.add(data); // its last words
  if (cell) finish({ t: 'gone', code: code ?? 0 });
  else say({ t: 'gone', code: code ?? 0 });
  if (name) process.kill(process.pid, name);
  process.exit(name ? 1 : code);
});

const workerFrames = new Frames(fromWorker);
const worker = new net.Socket({ fd: 0, readable: true, writable: false });
worker.on('data', (data) => workerFrames.add(data));
worker.on('end', () => process.exit(0));
