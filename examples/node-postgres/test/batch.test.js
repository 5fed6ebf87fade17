'use strict';

/*
 * The retry and the handling of clients in batch.js, on a pool that is not
 * there: each test scripts what the server answers and then reads the order of
 * events. Run it with: node test/batch.test.js
 */

const assert = require('assert').strict;
const { incrementBatch, validateIds, MAX_ATTEMPTS } = require('../batch');

function sqlError(code, message = `error ${code}`) {
  return Object.assign(new Error(message), { code });
}

/*
 * A pool whose clients record every call in events. answer(sql, attempt) says
 * what a query returns; it throws to make the query fail.
 */
function fakePool(answer) {
  const events = [];
  const released = [];
  let attempts = 0;
  return {
    events,
    released,
    attempts: () => attempts,
    async connect() {
      attempts++;
      events.push('connect');
      const number = attempts;
      const listeners = new Set();
      return {
        on: (name, listener) => listeners.add(listener),
        removeListener: (name, listener) => listeners.delete(listener),
        lose: (error) => listeners.forEach((listener) => listener(error)),
        async query(sql, values) {
          events.push(values ? sql.split(' ')[0] : sql);
          return answer.call(this, sql, number, values) || { rows: [] };
        },
        release(error) {
          assert.equal(listeners.size, 0, 'a released client has no listener of ours');
          events.push(error ? 'discard' : 'release');
          released.push(error);
        },
      };
    },
  };
}

function rowsFor(sql, values) {
  return { rows: values ? [...new Set(values[0])].sort((a, b) => a - b).map((id) => ({ id, revision: 1 })) : [] };
}

/* Fail the first `times` attempts with code, then succeed. */
function failing(code, times) {
  return (sql, attempt, values) => {
    if (values && attempt <= times) {
      throw sqlError(code);
    }
    return rowsFor(sql, values);
  };
}

function recordingSleep(pool, waits = []) {
  return { waits, random: () => 1, sleep: async (ms) => { waits.push(ms); pool.events.push('sleep'); } };
}

const tests = {
  async 'the recipe is one transaction on one client'() {
    const pool = fakePool(failing('none', 0));
    const rows = await incrementBatch(pool, 'recipe', [3, 1, 3]);
    assert.deepEqual(pool.events, ['connect', 'BEGIN', 'SELECT', 'WITH', 'COMMIT', 'release']);
    assert.deepEqual(rows.map((row) => row.id), [1, 3]);
  },

  async 'the one-call form is one statement'() {
    const pool = fakePool(failing('none', 0));
    await incrementBatch(pool, 'extension', [3, 1]);
    assert.deepEqual(pool.events, ['connect', 'SELECT', 'release']);
  },

  async 'the wait comes after the release'() {
    for (const code of ['40P01', '40001']) {
      const recipe = fakePool(failing(code, 1));
      await incrementBatch(recipe, 'recipe', [1], recordingSleep(recipe));
      assert.deepEqual(recipe.events, [
        'connect', 'BEGIN', 'SELECT', 'ROLLBACK', 'release', 'sleep',
        'connect', 'BEGIN', 'SELECT', 'WITH', 'COMMIT', 'release']);

      const extension = fakePool(failing(code, 1));
      await incrementBatch(extension, 'extension', [1], recordingSleep(extension));
      assert.deepEqual(extension.events, [
        'connect', 'SELECT', 'SELECT 1', 'release', 'sleep', 'connect', 'SELECT', 'release']);
    }
  },

  async 'a serialization failure at COMMIT is retried too'() {
    const pool = fakePool((sql, attempt, values) => {
      if (sql === 'COMMIT' && attempt === 1) {
        throw sqlError('40001');
      }
      return rowsFor(sql, values);
    });
    await incrementBatch(pool, 'recipe', [1], recordingSleep(pool));
    assert.equal(pool.attempts(), 2);
  },

  async 'three attempts at most, and the last error is reported'() {
    for (const variant of ['recipe', 'extension']) {
      const pool = fakePool(failing('40P01', Infinity));
      const options = recordingSleep(pool);
      await assert.rejects(incrementBatch(pool, variant, [1], options), { code: '40P01' });
      assert.equal(MAX_ATTEMPTS, 3);
      assert.equal(pool.attempts(), 3);
      assert.equal(options.waits.length, 2, 'no wait after the last attempt');
    }
    // The control: two failures are survived.
    const pool = fakePool(failing('40P01', 2));
    await incrementBatch(pool, 'recipe', [1], recordingSleep(pool));
    assert.equal(pool.attempts(), 3);
  },

  async 'the wait doubles and is spread at random'() {
    const most = [];
    const least = [];
    for (const [waits, random] of [[most, 1], [least, 0]]) {
      const pool = fakePool(failing('40001', 2));
      await incrementBatch(pool, 'recipe', [1],
        { random: () => random, sleep: async (ms) => { waits.push(ms); } });
    }
    assert.equal(most[1], 2 * most[0]);
    assert.equal(least[1], 2 * least[0]);
    assert.ok(least[0] > 0 && least[0] < most[0]);
  },

  async 'no other error is retried'() {
    for (const variant of ['recipe', 'extension']) {
      // 40003 and 40000 share the class of 40001, but not its meaning.
      for (const code of ['40003', '40000', '55P03', '57014', '57P01', 'P0002', '23514', '08006', 'ECONNRESET', undefined]) {
        const pool = fakePool(failing(code, 1));
        const options = recordingSleep(pool);
        await assert.rejects(incrementBatch(pool, variant, [1], options), { code });
        assert.equal(pool.attempts(), 1, `one attempt on ${code}`);
        assert.deepEqual(options.waits, []);
      }
    }
  },

  async 'a client whose ROLLBACK failed is discarded, and the first error reported'() {
    const pool = fakePool((sql, attempt, values) => {
      if (sql === 'ROLLBACK') {
        throw sqlError('57P01', 'connection gone');
      }
      if (values) {
        throw sqlError('57014');
      }
      return undefined;
    });
    await assert.rejects(incrementBatch(pool, 'recipe', [1]), { code: '57014' });
    assert.deepEqual(pool.events, ['connect', 'BEGIN', 'SELECT', 'ROLLBACK', 'discard']);
    assert.equal(pool.released[0].message, 'connection gone');
  },

  async 'a client whose ROLLBACK succeeded is kept'() {
    const pool = fakePool(failing('57014', 1));
    await assert.rejects(incrementBatch(pool, 'recipe', [1]), { code: '57014' });
    assert.deepEqual(pool.released, [undefined]);
  },

  async 'the one-call form asks whether the client still works'() {
    const pool = fakePool((sql, attempt, values) => {
      throw sqlError(values ? '57P01' : '08006');
    });
    await assert.rejects(incrementBatch(pool, 'extension', [1]), { code: '57P01' });
    assert.deepEqual(pool.events, ['connect', 'SELECT', 'SELECT 1', 'discard']);
    assert.equal(pool.released[0].code, '08006');
  },

  async 'a client that reported the loss of its connection is discarded'() {
    const gone = sqlError('57P01');
    const pool = fakePool(function answer(sql, attempt, values) {
      if (values) {
        this.lose(gone);
        throw gone;
      }
      return undefined;
    });
    await assert.rejects(incrementBatch(pool, 'extension', [1]), { code: '57P01' });
    assert.deepEqual(pool.released, [gone]);
  },

  async 'a missing row rolls back and is not retried'() {
    const pool = fakePool((sql) => (sql.startsWith('SELECT') ? { rows: [{ id: 2 }] } : undefined));
    await assert.rejects(incrementBatch(pool, 'recipe', [9, 2, 4]),
      { code: 'P0002', message: 'no such rows: 4, 9' });
    assert.deepEqual(pool.events, ['connect', 'BEGIN', 'SELECT', 'ROLLBACK', 'release']);
  },

  async 'no connection, no release'() {
    const events = [];
    const pool = { async connect() { events.push('connect'); throw sqlError('ECONNREFUSED'); } };
    await assert.rejects(incrementBatch(pool, 'recipe', [1]), { code: 'ECONNREFUSED' });
    assert.deepEqual(events, ['connect']);
  },

  async 'ids are a non-empty array of positive 32-bit integers'() {
    const sparse = [1, 2];
    delete sparse[0];
    const bad = [undefined, null, '1,2', { length: 1 }, [], [0], [-1], [1.5], [NaN], [Infinity],
      ['1'], [null], [[1]], [1n], [2147483648], sparse];
    for (const ids of bad) {
      assert.throws(() => validateIds(ids), /ids must/);
      const pool = fakePool(failing('none', 0));
      await assert.rejects(incrementBatch(pool, 'recipe', ids), /ids must/);
      assert.deepEqual(pool.events, [], 'nothing reaches the server');
    }
    validateIds([2147483647, 1, 1]);
  },

  async 'an unknown variant is refused'() {
    for (const name of ['other', 'toString', undefined]) {
      await assert.rejects(incrementBatch(fakePool(() => {}), name, [1]), /unknown variant/);
    }
  },
};

async function main() {
  let number = 0;
  for (const [name, test] of Object.entries(tests)) {
    number++;
    try {
      await test();
      console.log(`ok ${number} - ${name}`);
    } catch (error) {
      process.exitCode = 1;
      console.log(`not ok ${number} - ${name}`);
      console.error(error);
    }
  }
  console.log(`1..${number}`);
}

main();
