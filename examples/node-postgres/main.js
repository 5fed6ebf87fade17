'use strict';

/*
 * Run overlapping batches against deadlock_demo_articles at the same time and
 * print the table afterwards.
 *
 *   node main.js extension|recipe [batch ...]
 *
 * A batch is a list of ids such as 3,1,2. The server is found through the
 * usual PGHOST, PGPORT, PGUSER, PGDATABASE and so on. Exits with 0 if every
 * batch was committed, 1 if one was not, 2 if the arguments are wrong.
 */

const { Pool } = require('pg');
const { incrementBatch, validateIds, VARIANTS } = require('./batch');

function parseBatch(text) {
  // Number('') is 0 and Number('0x1') is 1, so the digits are checked first.
  const ids = text.split(',').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  validateIds(ids);
  return ids;
}

function parseArguments([variantName, ...batches]) {
  if (!Object.keys(VARIANTS).includes(variantName)) {
    throw new RangeError(`usage: node main.js ${Object.keys(VARIANTS).join('|')} [3,1,2 ...]`);
  }
  return {
    variantName,
    batches: (batches.length > 0 ? batches : ['3,1,2', '3,2']).map(parseBatch),
  };
}

function report(ids, outcome) {
  const batch = `{${ids.join(',')}}`;
  if (outcome.status === 'fulfilled') {
    console.log(`batch ${batch}: committed, ${outcome.value.length} rows`);
  } else {
    const { code, message } = outcome.reason;
    console.log(`batch ${batch}: failed, ${code || 'no SQLSTATE'}: ${message}`);
  }
}

async function printTable(pool) {
  const { rows } = await pool.query(
    'SELECT id, title, revision FROM deadlock_demo_articles ORDER BY id');
  console.log('id | title | revision');
  for (const { id, title, revision } of rows) {
    console.log(`${id} | ${title} | ${revision}`);
  }
}

async function runBatches(pool, { variantName, batches }) {
  const outcomes = await Promise.allSettled(batches.map((ids) => incrementBatch(
    pool, variantName, ids, {
      onRetry: (error, failures, ms) => console.error(
        `batch {${ids.join(',')}}: attempt ${failures} failed with ${error.code},`
        + ` next in ${Math.round(ms)} ms`),
    })));

  batches.forEach((ids, i) => report(ids, outcomes[i]));
  await printTable(pool);
  return outcomes.every((outcome) => outcome.status === 'fulfilled');
}

async function main() {
  const work = parseArguments(process.argv.slice(2));
  const pool = new Pool({ max: 2 });
  // An idle connection can be lost too; the pool has already dropped it.
  pool.on('error', (error) => console.error(`idle connection lost: ${error.message}`));
  try {
    return await runBatches(pool, work) ? 0 : 1;
  } finally {
    await pool.end();
  }
}

main().then(
  (status) => { process.exitCode = status; },
  (error) => {
    // A refused connection can come without a message.
    console.error(error.message || error.code);
    process.exitCode = error instanceof RangeError ? 2 : 1;
  });
