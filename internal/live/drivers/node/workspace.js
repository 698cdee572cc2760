'use strict';
// The files of a session: what has changed, and what is put there.
const fs = require('fs');
const path = require('path');
const { writeAll } = require('./frames');

const PIECE = 128 << 10;
const RACY = 50_000_000n; // nanoseconds within which the kernel's clock may give two writes the same time
const C = fs.constants;

function kindOf(status) {
  if (status.isSymbolicLink()) return 'is a link';
  if (status.isFIFO()) return 'is a FIFO';
  if (status.isSocket()) return 'is a socket';
  return 'is a device';
}

// Workspace tells what has changed below a folder.
class Workspace {
  constructor(root, quota, most) {
    Object.assign(this, { root, quota, most, known: new Map(), closed: [], cut: false });
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
    // Folders that could not be read, and whether there was more than is looked at.
    this.closed = [];
    this.cut = false;
    while (folders.length > 0) {
      const folder = folders.pop();
      let names = [];
      try {
        names = fs.readdirSync(path.join(this.root, folder), 'buffer');
      } catch (e) {
        if (e.code !== 'ENOENT') this.closed.push(folder);
      }
      for (const bytes of names) {
        if (left-- <= 0) {
          this.cut = true;
          return;
        }
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
    for (const folder of this.closed) { // nobody knows what has become of what lies in it
      refused.push({ path: folder.slice(0, -1).slice(0, 500) || '.', reason: 'cannot be read' });
      for (const [name, seen] of before) if (name.startsWith(folder)) this.known.set(name, seen);
    }
    if (this.cut) return [[], [], [limited('more files and folders are in the workspace than are looked at')]];
    if (count > this.most) return [[], [], [limited(`more than ${this.most} files are in the workspace`)]];
    if (total > this.quota) return [[], [], [limited(`changed files have ${total} bytes: at most ${this.quota} are kept`)]];
    return [changed, [...before.keys()].filter((name) => before.get(name).regular && !this.known.has(name)), refused];
  }
}

function limited(reason) {
  return { path: '.', reason, limit: true };
}

module.exports = { PIECE, Workspace };
