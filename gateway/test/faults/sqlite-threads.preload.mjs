/** Loaded before the gateway by the test of its threads: tells which thread opens which file of SQLite. */
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const sqlite = createRequire(import.meta.url)('node:sqlite');
const { DatabaseSync } = sqlite;

sqlite.DatabaseSync = class extends DatabaseSync {
  #file;

  constructor(file, options) {
    super(file, options);
    this.#file = file;
    this.#tell('opens');
  }

  exec(text) {
    this.#tell('uses');
    return super.exec(text);
  }

  prepare(text) {
    this.#tell('uses');
    return super.prepare(text);
  }

  #tell(what) {
    process.stderr.write(`sqlite: ${isMainThread ? 'main' : 'worker'} ${what} ${this.#file}\n`);
  }
};
syncBuiltinESMExports();
