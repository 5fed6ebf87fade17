/*-------------------------------------------------------------------------
 *
 * sql_text.c
 *		The text of the statements that lock, look for and change a batch.
 *
 * The only place where SQL is built.  Every name is qualified and quoted,
 * every operator is named with its schema, every value is a parameter, so that
 * nothing a search_path can bring in is ever looked up.
 *
 * For a table s.t with primary key k the statements are, by ctid:
 *
 *	SELECT t.ctid, t.k FROM ONLY s.t AS t
 *		WHERE t.k OPERATOR(pg_catalog.=) ANY ($1)
 *		ORDER BY t.k USING OPERATOR(pg_catalog.<)
 *		FOR UPDATE OF t
 *
 *	SELECT t.k FROM ONLY s.t AS t
 *		WHERE t.k OPERATOR(pg_catalog.=) ANY ($1)
 *		ORDER BY t.k USING OPERATOR(pg_catalog.<)
 *
 *	UPDATE ONLY s.t AS t SET c = t.c OPERATOR(pg_catalog.+) $2
 *		WHERE t.ctid OPERATOR(pg_catalog.=) ANY ($1)
 *		RETURNING t.k, t.c, t.other
 *
 * By key, the change statement has the same condition as the lock statement.
 * A key of several columns is matched row by row with
 *
 *	ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2)) AS w(k1, k2)
 *
 * and never column by column, which would match the cross product.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "sql_text.h"

/* Strength as SQL writes it, by LockStrength. */
static const char *const strength_words[] = {
	[STRENGTH_KEY_SHARE] = "KEY SHARE",
	[STRENGTH_SHARE] = "SHARE",
	[STRENGTH_NO_KEY_UPDATE] = "NO KEY UPDATE",
	[STRENGTH_UPDATE] = "UPDATE",
};

/*
 * The kind of statement that makes a change: CMD_SELECT where there is none.
 */
CmdType
ou_sql_change_event(ChangeKind change)
{
	switch (change)
	{
		case CHANGE_NONE:
			return CMD_SELECT;
		case CHANGE_INCREMENT:
			return CMD_UPDATE;
		case CHANGE_DELETE:
			return CMD_DELETE;
	}
	elog(ERROR, "unrecognized change %d", (int) change);
}

/*
 * Add a parameter of the given type, and return its number.
 */
static int
add_param(SqlText *sql, Oid type)
{
	if (sql->paramtypes == NULL)
		sql->paramtypes = palloc(sizeof(Oid));
	else
		sql->paramtypes = repalloc(sql->paramtypes, (sql->nparams + 1) * sizeof(Oid));
	sql->paramtypes[sql->nparams] = type;
	return ++sql->nparams;
}

/*
 * Append the table and its alias: [ONLY] schema.name AS t.
 */
static void
append_table(StringInfo out, const Target *target)
{
	appendStringInfo(out, "%s%s.%s AS t",
					 target->relkind == RELKIND_PARTITIONED_TABLE ? "" : "ONLY ",
					 quote_identifier(target->schema),
					 quote_identifier(target->name));
}

/*
 * Append a column of the table: t.name.
 */
static void
append_column(StringInfo out, const Target *target, AttrNumber attnum)
{
	appendStringInfo(out, "t.%s", quote_identifier(target->columns[attnum - 1].name));
}

/*
 * Append an operator: OPERATOR(schema.name).  The name of an operator cannot
 * be quoted and needs no quoting.
 */
static void
append_operator(StringInfo out, Oid operator)
{
	HeapTuple	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(operator));
	Form_pg_operator form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator %u", operator);
	form = (Form_pg_operator) GETSTRUCT(tuple);
	appendStringInfo(out, " OPERATOR(%s.%s) ",
					 quote_identifier(get_namespace_name(form->oprnamespace)),
					 NameStr(form->oprname));
	ReleaseSysCache(tuple);
}

/*
 * Append the key columns of alias, separated by commas.
 */
static void
append_key_columns(StringInfo out, const Target *target)
{
	for (int i = 0; i < target->key->ncolumns; i++)
	{
		appendStringInfoString(out, i > 0 ? ", " : "");
		append_column(out, target, target->key->columns[i].attnum);
	}
}

/*
 * Append all columns of the table, separated by commas.
 */
static void
append_all_columns(StringInfo out, const Target *target)
{
	const char *separator = "";

	for (int i = 0; i < target->ncolumns; i++)
	{
		if (target->columns[i].name == NULL)
			continue;
		appendStringInfoString(out, separator);
		append_column(out, target, i + 1);
		separator = ", ";
	}
}

/*
 * Append the wanted keys as a table, for a key of several columns:
 * ROWS FROM (unnest($1), unnest($2)) AS w(k1, k2).
 */
static void
append_wanted(StringInfo out, SqlText *sql, const Target *target)
{
	appendStringInfoString(out, "ROWS FROM (");
	for (int i = 0; i < target->key->ncolumns; i++)
		appendStringInfo(out, "%spg_catalog.unnest($%d)", i > 0 ? ", " : "",
						 add_param(sql, target->key->columns[i].arraytype));
	appendStringInfoString(out, ") AS w(");
	for (int i = 0; i < target->key->ncolumns; i++)
		appendStringInfo(out, "%sk%d", i > 0 ? ", " : "", i + 1);
	appendStringInfoChar(out, ')');
}

/*
 * Append the condition that picks the wanted rows by their keys.
 */
static void
append_key_condition(StringInfo out, SqlText *sql, const Target *target)
{
	KeyType    *key = target->key;

	appendStringInfoString(out, " WHERE ");
	for (int i = 0; i < key->ncolumns; i++)
	{
		appendStringInfoString(out, i > 0 ? " AND " : "");
		append_column(out, target, key->columns[i].attnum);
		append_operator(out, key->columns[i].equal);
		if (key->ncolumns > 1)
			appendStringInfo(out, "w.k%d", i + 1);
		else
			appendStringInfo(out, "ANY ($%d)", add_param(sql, key->columns[i].arraytype));
	}
}

/*
 * Append FROM and WHERE of a SELECT that picks the wanted rows, in key order.
 */
static void
append_wanted_rows(StringInfo out, SqlText *sql, const Target *target)
{
	appendStringInfoString(out, " FROM ");
	append_table(out, target);
	if (target->key->ncolumns > 1)
	{
		appendStringInfoString(out, ", ");
		append_wanted(out, sql, target);
	}
	append_key_condition(out, sql, target);

	appendStringInfoString(out, " ORDER BY ");
	for (int i = 0; i < target->key->ncolumns; i++)
	{
		appendStringInfoString(out, i > 0 ? ", " : "");
		append_column(out, target, target->key->columns[i].attnum);
		appendStringInfoString(out, " USING");
		append_operator(out, target->key->columns[i].less);
	}
}

/*
 * The strength of the row locks: as asked, or what the change takes itself.
 * Stronger deadlocks against inserts into a table that references this one;
 * weaker is upgraded later, which deadlocks too.
 */
static LockStrength
resolve_strength(const Target *target, const BatchShape *shape)
{
	if (shape->strength != STRENGTH_AS_NEEDED)
		return shape->strength;
	if (shape->change == CHANGE_DELETE ||
		bms_overlap(shape->columns, target->referable))
		return STRENGTH_UPDATE;
	return STRENGTH_NO_KEY_UPDATE;
}

/*
 * Build the statement that locks the wanted rows.  It returns ctid (where the
 * change finds rows by it), the key columns, and, where nothing is changed
 * afterwards, the row.
 */
static void
build_lock(StringInfo out, SqlText *sql, const Target *target, const BatchShape *shape)
{
	appendStringInfoString(out, "SELECT ");
	if (shape->locate == LOCATE_BY_CTID)
		appendStringInfoString(out, "t.ctid, ");
	append_key_columns(out, target);
	if (shape->change == CHANGE_NONE)
	{
		appendStringInfoString(out, ", ");
		append_all_columns(out, target);
	}
	append_wanted_rows(out, sql, target);
	appendStringInfo(out, " FOR %s OF t%s", strength_words[resolve_strength(target, shape)],
					 shape->wait == WAIT_NOT ? " NOWAIT" : "");
}

/*
 * Build the statement that looks once more for rows that were not locked.  It
 * returns their keys.
 */
static void
build_look(StringInfo out, SqlText *sql, const Target *target)
{
	appendStringInfoString(out, "SELECT ");
	append_key_columns(out, target);
	append_wanted_rows(out, sql, target);
}

/*
 * Append what the change statement returns of each row.
 */
static void
append_returning(StringInfo out, const Target *target, const BatchShape *shape)
{
	appendStringInfoString(out, " RETURNING ");
	if (shape->result == RESULT_ROW)
	{
		append_all_columns(out, target);
		return;
	}
	append_key_columns(out, target);
	appendStringInfoString(out, "::pg_catalog.int4, ");
	append_column(out, target, bms_singleton_member(shape->columns));
	appendStringInfoString(out, "::pg_catalog.int4");
}

/*
 * Append the condition that picks the locked rows, with the table of keys
 * that it may need behind the word keyword, FROM or USING.
 */
static void
append_locked_rows(StringInfo out, SqlText *sql, const Target *target,
				   const BatchShape *shape, const char *keyword)
{
	if (shape->locate == LOCATE_BY_CTID)
	{
		appendStringInfo(out, " WHERE t.ctid OPERATOR(pg_catalog.=) ANY ($%d)",
						 add_param(sql, TIDARRAYOID));
		return;
	}
	if (target->key->ncolumns > 1)
	{
		appendStringInfo(out, " %s ", keyword);
		append_wanted(out, sql, target);
	}
	append_key_condition(out, sql, target);
}

/*
 * Build the statement that adds one amount, the last parameter, to a counter.
 */
static void
build_increment(StringInfo out, SqlText *sql, const Target *target, const BatchShape *shape)
{
	AttrNumber	counter = bms_singleton_member(shape->columns);
	Oid			type = target->columns[counter - 1].type;
	StringInfoData rows;

	initStringInfo(&rows);
	append_locked_rows(&rows, sql, target, shape, "FROM");

	appendStringInfoString(out, "UPDATE ");
	append_table(out, target);
	appendStringInfo(out, " SET %s = ",
					 quote_identifier(target->columns[counter - 1].name));
	append_column(out, target, counter);
	appendStringInfo(out, " OPERATOR(pg_catalog.+) $%d%s", add_param(sql, type), rows.data);
	append_returning(out, target, shape);
}

/*
 * Build the statement that deletes the locked rows.
 */
static void
build_delete(StringInfo out, SqlText *sql, const Target *target, const BatchShape *shape)
{
	appendStringInfoString(out, "DELETE FROM ");
	append_table(out, target);
	append_locked_rows(out, sql, target, shape, "USING");
	append_returning(out, target, shape);
}

/*
 * Build a statement of a batch of the given shape.  Its parameters are the
 * wanted or locked keys, an array for each key column, or the ctids of the
 * locked rows, and then what the change needs.  All is in the current memory
 * context.
 */
SqlText
ou_sql_build(const Target *target, const BatchShape *shape, Statement statement)
{
	SqlText		sql = {0};
	StringInfoData out;

	initStringInfo(&out);
	if (statement == STATEMENT_LOCK)
		build_lock(&out, &sql, target, shape);
	else if (statement == STATEMENT_LOOK)
		build_look(&out, &sql, target);
	else if (shape->change == CHANGE_INCREMENT)
		build_increment(&out, &sql, target, shape);
	else if (shape->change == CHANGE_DELETE)
		build_delete(&out, &sql, target, shape);
	else
		elog(ERROR, "no change statement for change %d", (int) shape->change);
	sql.text = out.data;
	return sql;
}
