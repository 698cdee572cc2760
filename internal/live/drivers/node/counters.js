'use strict';
// What the kernel counts and limits in this container, with version 1 and 2 of its control groups.
const fs = require('fs');
const path = require('path');

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

module.exports = { Counters, fullDisk };
