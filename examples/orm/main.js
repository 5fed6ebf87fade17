'use strict';

/*
 * One batch on deadlock_demo_articles, by Sequelize or by Knex, as programs
 * write them that know nothing of ordered_update: a bulk update or a bulk
 * upsert, of the rows in the order in which they are named.
 *
 * The server is that of PGHOST, PGPORT, PGDATABASE and PGUSER.
 */

const { DataTypes, Sequelize } = require('sequelize');
const createKnex = require('knex');

const TABLE = 'deadlock_demo_articles';
const USAGE = 'usage: node main.js sequelize|knex update|upsert ID,ID...';

/* A title that tells who wrote it last. */
function titleOf(id) {
  return `${process.env.PGAPPNAME || 'somebody'} ${id}`;
}

function openSequelize() {
  const sequelize = new Sequelize({
    dialect: 'postgres',
    host: process.env.PGHOST,
    port: process.env.PGPORT,
    database: process.env.PGDATABASE,
    username: process.env.PGUSER,
    logging: false,
    dialectOptions: { application_name: process.env.PGAPPNAME },
  });
  const Article = sequelize.define('Article', {
    id: { type: DataTypes.INTEGER, primaryKey: true },
    title: { type: DataTypes.TEXT, allowNull: false },
    revision: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
  }, { tableName: TABLE, timestamps: false });

  return {
    update: (ids) => Article.increment('revision', { by: 1, where: { id: ids } }),
    upsert: (ids) => Article.bulkCreate(
      ids.map((id) => ({ id, title: titleOf(id) })),
      { updateOnDuplicate: ['title'] }),
    close: () => sequelize.close(),
  };
}

function openKnex() {
  const knex = createKnex({ client: 'pg', connection: {} });

  return {
    update: (ids) => knex(TABLE).whereIn('id', ids).increment('revision', 1),
    // Sets every column, the key among them, to what is inserted.
    upsert: (ids) => knex(TABLE)
      .insert(ids.map((id) => ({ id, title: titleOf(id) })))
      .onConflict('id').merge(),
    close: () => knex.destroy(),
  };
}

const LIBRARIES = { sequelize: openSequelize, knex: openKnex };

/* The SQLSTATE of an error: Sequelize wraps the one of the driver. */
function sqlstateOf(error) {
  return (error.original || error).code || error.message;
}

async function main([library, batch, list]) {
  const ids = (list || '').split(',').map(Number);

  if (!Object.hasOwn(LIBRARIES, library) || !['update', 'upsert'].includes(batch) ||
      !ids.every((id) => Number.isInteger(id) && id > 0)) {
    console.error(USAGE);
    return 2;
  }
  const client = LIBRARIES[library]();
  try {
    await client[batch](ids);
    console.log('committed');
    return 0;
  } catch (error) {
    console.log(`failed, ${sqlstateOf(error)}`);
    return 1;
  } finally {
    await client.close();
  }
}

main(process.argv.slice(2)).then((status) => { process.exitCode = status; });
