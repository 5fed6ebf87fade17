'use strict';

/*
 * One batch of increments on deadlock_demo_articles: its validation, the two
 * ways to run it, and the retry around it.
 *
 * The pool is handed in, and so are the sleep and the random number of the
 * retry, so that a test can replace them.
 */

const MAX_ATTEMPTS = 3;
const FIRST_DELAY_MS = 20;
const MAX_ID = 2147483647;

/*
 * serialization_failure and deadlock_detected: the server has rolled the
 * transaction back, and the same work can succeed when it is started again.
 * Everything else would fail again, or might already be done: a connection
 * lost on the way through COMMIT does not tell whether the batch is in.
 */
const RETRYABLE = new Set(['40001', '40P01']);

/*
 * The two ways to run a batch. Both take the row locks in ascending id order,
 * whatever order the ids come in, and both return the changed rows in id order.
 *
 * recover is what a client must still be able to do after an error. A server
 * that ends a session sends the reason first, as an error like any other, and
 * hangs up a moment later; without asking, such a client would go back into
 * the pool and fail its next user.
 */
const VARIANTS = {
  // For servers without the extension: two statements, so a transaction.
  recipe: { transaction: true, run: lockThenUpdate, recover: 'ROLLBACK' },
  // One statement is a transaction of its own: no BEGIN, nothing to roll back.
  extension: { transaction: false, run: callOrderedIncrement, recover: 'SELECT 1' },
};

/*
 * Throw a TypeError or RangeError unless ids is a non-empty array of positive
 * 32-bit integers. Duplicates are fine: a row is incremented once a batch.
 */
function validateIds(ids) {
  if (!Array.isArray(ids)) {
    throw new TypeError('ids must be an array');
  }
  if (ids.length === 0) {
    throw new RangeError('ids must not be empty');
  }
  // A loop by index: forEach and every() skip the holes of a sparse array.
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i];
    if (!Number.isInteger(id) || id < 1 || id > MAX_ID) {
      throw new RangeError(
        `ids must be integers from 1 to ${MAX_ID}, but element ${i} is ${String(id)}`);
    }
  }
}

async function callOrderedIncrement(client, ids) {
  const { rows } = await client.query(
    'SELECT id, revision FROM ordered_increment($1::int[])', [ids]);
  return rows;
}

/*
 * The locks are taken by a statement of their own, because an UPDATE visits
 * its rows in the order of its plan, which may be any order. ORDER BY id makes
 * every batch lock the rows they share in the same order, so that none of them
 * waits for a row while it holds one that an earlier batch needs.
 */
async function lockThenUpdate(client, ids) {
  const locked = await client.query(
    'SELECT id FROM deadlock_demo_articles WHERE id = ANY($1::int[]) ORDER BY id FOR UPDATE',
    [ids]);

  const found = new Set(locked.rows.map((row) => row.id));
  const missing = [...new Set(ids)].filter((id) => !found.has(id)).sort((a, b) => a - b);
  if (missing.length > 0) {
    const error = new Error(`no such rows: ${missing.join(', ')}`);
    error.code = 'P0002'; // no_data_found, as the extension reports it
    throw error;
  }

  // The order of RETURNING is the plan's too, hence the outer ORDER BY.
  const changed = await client.query(
    'WITH changed AS (UPDATE deadlock_demo_articles SET revision = revision + 1'
    + ' WHERE id = ANY($1::int[]) RETURNING id, revision)'
    + ' SELECT id, revision FROM changed ORDER BY id',
    [ids]);
  return changed.rows;
}

/*
 * Run the batch once, on one client from BEGIN to COMMIT, and give the client
 * back. A client that lost its connection, or that could not even roll back, is
 * in an unknown state: release() is given the error, and the pool discards the
 * client instead of handing it to the next caller.
 */
async function attempt(pool, variant, ids) {
  const client = await pool.connect();
  let unusable;
  // Without a listener, an error between two queries would end the process.
  const noteLoss = (error) => { unusable = error; };
  client.on('error', noteLoss);

  try {
    if (variant.transaction) {
      await client.query('BEGIN');
    }
    const rows = await variant.run(client, ids);
    if (variant.transaction) {
      await client.query('COMMIT');
    }
    return rows;
  } catch (error) {
    // The first error is the one to report; this one only marks the client.
    await client.query(variant.recover).catch(noteLoss);
    throw error;
  } finally {
    client.removeListener('error', noteLoss);
    client.release(unusable);
  }
}

/*
 * The wait before attempt number failures + 1, in milliseconds: doubled each
 * time, and from half to all of that at random, so that two batches that
 * failed together do not come back together.
 */
function backoff(failures, random) {
  return FIRST_DELAY_MS * 2 ** (failures - 1) * (0.5 + random() / 2);
}

function sleepFor(ms) {
  return new Promise((resolve) => { setTimeout(resolve, ms); });
}

/*
 * Add 1 to the revision of each row in ids, all or none, and return the rows
 * {id, revision} in id order.
 *
 * variantName is a key of VARIANTS. The options: sleep(ms) and random() of the
 * retry, and onRetry(error, failures, ms), called before each wait.
 *
 * The wait comes after the client went back to the pool: a sleeping batch must
 * not keep a connection from those that could work.
 */
async function incrementBatch(pool, variantName, ids, options = {}) {
  const { sleep = sleepFor, random = Math.random, onRetry = () => {} } = options;
  if (!Object.prototype.hasOwnProperty.call(VARIANTS, variantName)) {
    throw new RangeError(`unknown variant: ${variantName}`);
  }
  validateIds(ids);

  for (let failures = 1; ; failures++) {
    try {
      return await attempt(pool, VARIANTS[variantName], ids);
    } catch (error) {
      if (!RETRYABLE.has(error.code) || failures === MAX_ATTEMPTS) {
        throw error;
      }
      const ms = backoff(failures, random);
      onRetry(error, failures, ms);
      await sleep(ms);
    }
  }
}

module.exports = { incrementBatch, validateIds, VARIANTS, MAX_ATTEMPTS };
