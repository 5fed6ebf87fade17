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
 * So has the statement that locks the rows itself; the planner hook adds the key
 * order, which UPDATE and DELETE cannot express.  A key of several columns is
 * matched row by row with
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
#include "catalog/pg_collation.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "sql_text.h"

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
		case CHANGE_ADD:
		case CHANGE_SET:
			return CMD_UPDATE;
		case CHANGE_UPSERT:
			return CMD_INSERT;
		case CHANGE_DELETE:
			return CMD_DELETE;
	}
	elog(ERROR, "unrecognized change %d", (int) change);
}

/*
 * Attribute numbers of the columns that a batch changes: all it names but the
 * key.
 */
Bitmapset *
ou_sql_changed_columns(const Target *target, const BatchShape *shape)
{
	return bms_difference(shape->columns, target->key_columns);
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
	appendStringInfo(out, "OPERATOR(%s.%s)",
					 quote_identifier(get_namespace_name(form->oprnamespace)),
					 NameStr(form->oprname));
	ReleaseSysCache(tuple);
}

/*
 * Append key column i (from 0) of the relation alias: its own name in the table
 * t and in the objects r, a number in the changes n, and bare for alias "".
 */
static void
append_key_name(StringInfo out, const Target *target, const char *alias, int i)
{
	if (*alias == 'n')
		appendStringInfo(out, "n.k%d", i + 1);
	else
		appendStringInfo(out, "%s%s%s", alias, *alias ? "." : "",
						 quote_identifier(target->key->columns[i].name));
}

/*
 * Append the key columns of the relation alias, separated by commas.
 */
static void
append_key_list(StringInfo out, const Target *target, const char *alias)
{
	for (int i = 0; i < target->key->ncolumns; i++)
	{
		appendStringInfoString(out, i > 0 ? ", " : "");
		append_key_name(out, target, alias, i);
	}
}

/*
 * Append the order of the primary key of the relation alias.
 */
static void
append_key_order(StringInfo out, const Target *target, const char *alias)
{
	appendStringInfoString(out, " ORDER BY ");
	for (int i = 0; i < target->key->ncolumns; i++)
	{
		appendStringInfoString(out, i > 0 ? ", " : "");
		append_key_name(out, target, alias, i);
		appendStringInfoString(out, " USING ");
		append_operator(out, target->key->columns[i].less);
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
		append_key_name(out, target, "t", i);
		appendStringInfoChar(out, ' ');
		append_operator(out, key->columns[i].equal);
		if (key->ncolumns > 1)
			appendStringInfo(out, " w.k%d", i + 1);
		else
			appendStringInfo(out, " ANY ($%d)", add_param(sql, key->columns[i].arraytype));
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

	append_key_order(out, target, "t");
}

/*
 * The strength of the row locks: as asked, or what the change takes itself.
 * Stronger deadlocks against inserts into a table that references this one;
 * weaker is upgraded later, which deadlocks too.
 */
LockStrength
ou_sql_strength(const Target *target, const BatchShape *shape)
{
	if (shape->strength != STRENGTH_AS_NEEDED)
		return shape->strength;
	if (shape->change == CHANGE_DELETE ||
		bms_overlap(ou_sql_changed_columns(target, shape), target->referable))
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
	append_key_list(out, target, "t");
	if (shape->change == CHANGE_NONE && shape->result == RESULT_ROW)
	{
		appendStringInfoString(out, ", ");
		append_all_columns(out, target);
	}
	append_wanted_rows(out, sql, target);
	appendStringInfo(out, " FOR %s OF t%s", ou_row_lock_name(ou_sql_strength(target, shape)),
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
	append_key_list(out, target, "t");
	append_wanted_rows(out, sql, target);
}

/*
 * Build the same as one that locks, without waiting: row security shows it the
 * rows that it shows to the lock statement.
 */
static void
build_look_locking(StringInfo out, SqlText *sql, const Target *target)
{
	build_look(out, sql, target);
	appendStringInfoString(out, " FOR KEY SHARE OF t SKIP LOCKED");
}

/*
 * Build the statement that finds the wanted rows, without locking them, to read
 * their headers.  It returns where they are and their keys.
 */
static void
build_headers(StringInfo out, SqlText *sql, const Target *target)
{
	appendStringInfoString(out, "SELECT t.tableoid, t.ctid, ");
	append_key_list(out, target, "t");
	append_wanted_rows(out, sql, target);
}

/*
 * Append what the change statement returns of each row, and behind it, for
 * each counter that not every change names, whether this one did.
 */
static void
append_returning(StringInfo out, const Target *target, const BatchShape *shape)
{
	int			attnum = -1;

	appendStringInfoString(out, " RETURNING ");
	if (shape->result == RESULT_ROW)
	{
		append_all_columns(out, target);
		while (shape->change == CHANGE_ADD &&
			   (attnum = bms_next_member(shape->optional, attnum)) >= 0)
			appendStringInfo(out, ", n.v%d IS NOT NULL", attnum);
		return;
	}
	append_key_name(out, target, "t", 0);
	appendStringInfoString(out, "::pg_catalog.int4, ");
	append_column(out, target, bms_singleton_member(shape->columns));
	appendStringInfoString(out, "::pg_catalog.int4");
}

/*
 * Append the condition that picks the rows to change, with the table of keys
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
 * Append a collation by its qualified name.
 */
static void
append_collation(StringInfo out, Oid collation)
{
	HeapTuple	tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
	Form_pg_collation form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for collation %u", collation);
	form = (Form_pg_collation) GETSTRUCT(tuple);
	appendStringInfo(out, " COLLATE %s",
					 quote_qualified_identifier(get_namespace_name(form->collnamespace),
												NameStr(form->collname)));
	ReleaseSysCache(tuple);
}

/*
 * Append a type by its qualified name, with its modifier, and its collation if
 * it has one.
 */
static void
append_type(StringInfo out, Oid type, int32 typmod, Oid collation)
{
	appendStringInfoString(out, format_type_extended(type, typmod,
													 FORMAT_TYPE_TYPEMOD_GIVEN |
													 FORMAT_TYPE_FORCE_QUALIFY));
	if (OidIsValid(collation))
		append_collation(out, collation);
}

/*
 * Append the columns that the objects of a batch name, with the types to read
 * them as: "id" integer, "c" numeric.  Keys lose their modifiers, by which
 * a value could be rounded to another row's; amounts are numeric whatever the
 * counter, so that their sum is exact.
 */
static void
append_read_columns(StringInfo out, const Target *target, const BatchShape *shape)
{
	const char *separator = "";
	int			attnum = -1;

	while ((attnum = bms_next_member(shape->columns, attnum)) >= 0)
	{
		const TargetColumn *column = &target->columns[attnum - 1];

		appendStringInfo(out, "%s%s ", separator, quote_identifier(column->name));
		if (bms_is_member(attnum, target->key_columns))
			append_type(out, column->type, -1, column->collation);
		else if (shape->change == CHANGE_ADD)
			appendStringInfoString(out, "pg_catalog.numeric");
		else
			append_type(out, column->type, column->typmod, column->collation);
		separator = ", ";
	}
}

/*
 * Append what the reading statement returns: the key as k1, k2, ..., the value
 * for column number n as vn, and for one that not every object names whether
 * this one does, as fn.  An amount that is not named is null, and needs none.
 */
static void
append_read_list(StringInfo out, const Target *target, const BatchShape *shape)
{
	Bitmapset  *changed = ou_sql_changed_columns(target, shape);
	int			attnum = -1;

	for (int i = 0; i < target->key->ncolumns; i++)
	{
		appendStringInfoString(out, i > 0 ? ", " : "");
		append_key_name(out, target, "r", i);
		appendStringInfo(out, " AS k%d", i + 1);
	}
	while ((attnum = bms_next_member(changed, attnum)) >= 0)
	{
		const char *name = quote_identifier(target->columns[attnum - 1].name);

		if (shape->change == CHANGE_ADD)
			appendStringInfo(out, ", pg_catalog.sum(r.%s) AS v%d", name, attnum);
		else
			appendStringInfo(out, ", r.%s AS v%d", name, attnum);
	}
	attnum = -1;
	while (shape->change != CHANGE_ADD &&
		   (attnum = bms_next_member(shape->optional, attnum)) >= 0)
		appendStringInfo(out, ", j.o OPERATOR(pg_catalog.?) %s AS f%d",
						 quote_literal_cstr(target->columns[attnum - 1].name), attnum);
}

/*
 * Build the statement that reads a JSON array of values of the one key column.
 *
 *	SELECT r.k::pg_catalog.int4 AS k1
 *		FROM pg_catalog.jsonb_array_elements_text($1) AS r(k) ORDER BY 1 ...
 */
static void
build_read_scalars(StringInfo out, SqlText *sql, const Target *target)
{
	const KeyColumn *column = &target->key->columns[0];
	const char *name = quote_identifier(column->name);

	appendStringInfo(out, "SELECT r.%s AS k1 FROM (SELECT j.v::", name);
	append_type(out, column->type, -1, InvalidOid);
	if (OidIsValid(column->collation))
		append_collation(out, column->collation);
	appendStringInfo(out, " AS %s FROM pg_catalog.jsonb_array_elements_text($%d) AS j(v)) AS r",
					 name, add_param(sql, JSONBOID));
	append_key_order(out, target, "r");
}

/*
 * Build the statement that reads a JSON batch, its only parameter, into typed
 * rows in key order.  Amounts for one row are summed.
 *
 *	SELECT r.k AS k1, r.c AS v3 FROM pg_catalog.jsonb_to_recordset($1)
 *		AS r(k pg_catalog.int4, c pg_catalog.text COLLATE ...)
 *		ORDER BY k1 ...
 */
static void
build_read(StringInfo out, SqlText *sql, const Target *target, const BatchShape *shape)
{
	int			param = add_param(sql, JSONBOID);

	appendStringInfoString(out, "SELECT ");
	append_read_list(out, target, shape);
	if (shape->source == SOURCE_OBJECTS &&
		(bms_is_empty(shape->optional) || shape->change == CHANGE_ADD))
		appendStringInfo(out, " FROM pg_catalog.jsonb_to_recordset($%d) AS r(", param);
	else
		appendStringInfo(out, " FROM pg_catalog.jsonb_array_elements($%d) AS j(o), LATERAL pg_catalog.jsonb_to_record(j.o) AS r(",
						 param);
	append_read_columns(out, target, shape);
	appendStringInfoChar(out, ')');
	if (shape->change == CHANGE_ADD)
	{
		appendStringInfoString(out, " GROUP BY ");
		append_key_list(out, target, "r");
	}
	append_key_order(out, target, "r");
}

/*
 * Append the relation of changes and the condition that gives each row
 * its change.
 */
static void
append_changes(StringInfo out, const Target *target, const BatchShape *shape)
{
	appendStringInfoString(out, " FROM " OU_CHANGES_NAME " AS n WHERE ");
	if (shape->locate == LOCATE_BY_CTID)
	{
		appendStringInfoString(out, "t.ctid OPERATOR(pg_catalog.=) n." OU_CHANGES_CTID);
		return;
	}
	for (int i = 0; i < target->key->ncolumns; i++)
	{
		appendStringInfoString(out, i > 0 ? " AND " : "");
		append_key_name(out, target, "t", i);
		appendStringInfoChar(out, ' ');
		append_operator(out, target->key->columns[i].equal);
		appendStringInfoChar(out, ' ');
		append_key_name(out, target, "n", i);
	}
}

/*
 * Append the new value of one column.
 */
static void
append_new_value(StringInfo out, const Target *target, const BatchShape *shape,
				 AttrNumber attnum)
{
	const char *name = quote_identifier(target->columns[attnum - 1].name);

	if (shape->change == CHANGE_ADD && bms_is_member(attnum, shape->optional))
		appendStringInfo(out, "CASE WHEN n.v%d IS NULL THEN t.%s ELSE t.%s OPERATOR(pg_catalog.+) n.v%d END",
						 attnum, name, name, attnum);
	else if (shape->change == CHANGE_ADD)
		appendStringInfo(out, "t.%s OPERATOR(pg_catalog.+) n.v%d", name, attnum);
	else if (bms_is_member(attnum, shape->optional))
		appendStringInfo(out, "CASE WHEN n.f%d THEN n.v%d ELSE t.%s END",
						 attnum, attnum, name);
	else
		appendStringInfo(out, "n.v%d", attnum);
}

/*
 * Build the statement that gives each row its change.
 *
 *	UPDATE ONLY s.t AS t SET a = n.v2, b = CASE WHEN n.f3 THEN n.v3 ELSE t.b END
 *		FROM ordered_update_changes AS n
 *		WHERE t.ctid OPERATOR(pg_catalog.=) n.tid
 *		RETURNING t.k, t.a, t.b
 */
static void
build_update(StringInfo out, const Target *target, const BatchShape *shape)
{
	Bitmapset  *changed = ou_sql_changed_columns(target, shape);
	const char *separator = " SET ";
	int			attnum = -1;

	appendStringInfoString(out, "UPDATE ");
	append_table(out, target);
	while ((attnum = bms_next_member(changed, attnum)) >= 0)
	{
		appendStringInfo(out, "%s%s = ", separator,
						 quote_identifier(target->columns[attnum - 1].name));
		append_new_value(out, target, shape, attnum);
		separator = ", ";
	}
	append_changes(out, target, shape);
	append_returning(out, target, shape);
}

/*
 * A column that can be set to itself in a row that is not to be changed:
 * rather one that no foreign key can reference, as those take the stronger
 * lock.
 */
static AttrNumber
find_idle_column(const Target *target)
{
	for (int i = 0; i < target->ncolumns; i++)
		if (target->columns[i].name != NULL && !target->columns[i].is_computed &&
			!bms_is_member(i + 1, target->referable))
			return i + 1;
	return target->key->columns[0].attnum;
}

/*
 * Append what an upsert sets in a row that exists: the columns that the change
 * names, or, where it names none but the key, a column to itself, as a row that
 * is not updated would be neither locked nor returned.
 */
static void
append_conflict_action(StringInfo out, const Target *target, const BatchShape *shape)
{
	Bitmapset  *changed = ou_sql_changed_columns(target, shape);
	const char *separator = "";
	int			attnum = -1;

	if (bms_is_empty(changed))
	{
		const char *name = quote_identifier(target->columns[find_idle_column(target) - 1].name);

		appendStringInfo(out, "%s = t.%s", name, name);
		return;
	}
	while ((attnum = bms_next_member(changed, attnum)) >= 0)
	{
		const char *name = quote_identifier(target->columns[attnum - 1].name);

		appendStringInfo(out, "%s%s = excluded.%s", separator, name, name);
		separator = ", ";
	}
}

/*
 * Build the statement that inserts or updates rows that name all their
 * columns.
 *
 *	INSERT INTO s.t AS t (k, a) SELECT n.k1, n.v2
 *		FROM ordered_update_changes AS n ORDER BY n.k1 ...
 *		ON CONFLICT (k) DO UPDATE SET a = excluded.a
 *		RETURNING t.k, t.a, t.b
 */
static void
build_upsert(StringInfo out, const Target *target, const BatchShape *shape)
{
	Bitmapset  *changed = ou_sql_changed_columns(target, shape);
	int			attnum = -1;

	appendStringInfo(out, "INSERT INTO %s AS t (",
					 quote_qualified_identifier(target->schema, target->name));
	append_key_list(out, target, "");
	while ((attnum = bms_next_member(changed, attnum)) >= 0)
		appendStringInfo(out, ", %s", quote_identifier(target->columns[attnum - 1].name));

	appendStringInfoString(out, ") SELECT ");
	append_key_list(out, target, "n");
	attnum = -1;
	while ((attnum = bms_next_member(changed, attnum)) >= 0)
		appendStringInfo(out, ", n.v%d", attnum);
	appendStringInfoString(out, " FROM " OU_CHANGES_NAME " AS n");
	append_key_order(out, target, "n");

	appendStringInfoString(out, " ON CONFLICT (");
	append_key_list(out, target, "");
	appendStringInfoString(out, ") DO UPDATE SET ");
	append_conflict_action(out, target, shape);
	append_returning(out, target, shape);
}

/*
 * Build the statement that deletes rows.
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
 * Build the statement that changes rows, locked ones or those it locks.
 */
static void
build_change(StringInfo out, SqlText *sql, const Target *target, const BatchShape *shape)
{
	switch (shape->change)
	{
		case CHANGE_INCREMENT:
			build_increment(out, sql, target, shape);
			break;
		case CHANGE_ADD:
		case CHANGE_SET:
			build_update(out, target, shape);
			break;
		case CHANGE_UPSERT:
			build_upsert(out, target, shape);
			break;
		case CHANGE_DELETE:
			build_delete(out, sql, target, shape);
			break;
		case CHANGE_NONE:
			elog(ERROR, "no statement to change nothing");
	}
}

/*
 * Build a statement of a batch of the given shape.  Its parameters are the
 * JSON batch to be read, or the wanted or locked keys, an array for each key
 * column, or the ctids of the locked rows, and then an amount.  All is in the
 * current memory context.
 */
SqlText
ou_sql_build(const Target *target, const BatchShape *shape, Statement statement)
{
	SqlText		sql = {0};
	BatchShape	by_key = *shape;
	StringInfoData out;

	initStringInfo(&out);
	switch (statement)
	{
		case STATEMENT_READ:
			if (shape->source == SOURCE_SCALARS)
				build_read_scalars(&out, &sql, target);
			else
				build_read(&out, &sql, target, shape);
			break;
		case STATEMENT_LOCK:
			build_lock(&out, &sql, target, shape);
			break;
		case STATEMENT_LOOK:
			build_look(&out, &sql, target);
			break;
		case STATEMENT_LOOK_LOCKING:
			build_look_locking(&out, &sql, target);
			break;
		case STATEMENT_HEADERS:
			build_headers(&out, &sql, target);
			break;
		case STATEMENT_CHANGE:
			build_change(&out, &sql, target, shape);
			break;
		case STATEMENT_LOCK_AND_CHANGE:
			by_key.locate = LOCATE_BY_KEY;
			build_change(&out, &sql, target, &by_key);
			break;
	}
	sql.text = out.data;
	return sql;
}
