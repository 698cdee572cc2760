'use strict';
// Frames: the lengths of a header and of a body, a header in JSON, a body.
const fs = require('fs');

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

module.exports = { Frames, frame, writeAll };
