/*-------------------------------------------------------------------------
 *
 * target.c
 *		The table whose rows a batch locks: found, locked, checked, described.
 *
 * ROW EXCLUSIVE is taken here before anything else is done with the table and
 * is kept to the end of the transaction.  A weaker lock taken first and
 * upgraded later would deadlock against LOCK TABLE ... IN SHARE MODE.
 *
 * A description is valid as long as the table's relcache entry is not
 * invalidated: whoever keeps one must keep a saved plan on the table next to
 * it, and throw both away when the plan is no longer valid.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "rewrite/prs2lock.h"
#include "rewrite/rewriteDefine.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "compat.h"
#include "target.h"
#include "unique_columns.h"

/*
 * Refuse to work where nothing can be written: 25006.
 *
 * Comes before the table is locked, because a hot standby refuses that lock
 * with an error that does not tell what is wrong.
 */
void
ou_target_check_writable(const char *verb)
{
	char	   *name;

	/* Most calls need no name. */
	if (!XactReadOnly && !IsInParallelMode())
		return;
	name = psprintf("%s()", verb);
	PreventCommandIfReadOnly(name);
	PreventCommandIfParallelMode(name);
}

/* A wait for a table, for the line of context. */
typedef struct TableWait
{
	const LockRequest *request;
	const char *name;
} TableWait;

/*
 * Add a line of context to an error while a table is being locked, and to one
 * that says there is no such table where its name comes from.
 */
static void
add_wait_context(void *arg)
{
	TableWait  *wait = arg;

	if (wait->request->hint != NULL && geterrcode() == ERRCODE_UNDEFINED_TABLE)
		errhint("%s", _(wait->request->hint));
	errcontext("%s on table %s, batch size %d: locking the table", wait->request->verb,
			   wait->name, wait->request->batch_size);
}

/*
 * How this transaction holds the table: in a mode that lets it write rows,
 * RowExclusiveLock, or lock some, RowShareLock, or neither, NoLock.  Whoever has
 * locked or written a row has a transaction ID.
 */
static LOCKMODE
find_lock(Oid relid)
{
	LOCKTAG		tag;

	if (!TransactionIdIsValid(GetTopTransactionIdIfAny()))
		return NoLock;
	SET_LOCKTAG_RELATION(tag, MyDatabaseId, relid);
	if (ou_compat_lock_is_held(&tag, RowExclusiveLock))
		return RowExclusiveLock;
	return ou_compat_lock_is_held(&tag, RowShareLock) ? RowShareLock : NoLock;
}

/*
 * Note, before a table is locked that a name was found to mean, how it is locked
 * already.
 */
static void
note_lock(const RangeVar *name, Oid relid, Oid oldrelid, void *held)
{
	if (OidIsValid(relid) && relid != oldrelid)
		*(LOCKMODE *) held = find_lock(relid);
}

/*
 * Lock the partitions of a partitioned table as the table itself is locked:
 * the lock statement would take ROW SHARE on them, the change would upgrade.
 */
static void
lock_partitions(Oid relid)
{
	if (get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE)
		list_free(find_all_inheritors(relid, RowExclusiveLock, NULL));
}

/*
 * Lock the table that name, written as in SQL, means under the search_path, and
 * return its OID.  held is set to how the transaction held it before, see
 * find_lock.
 *
 * Raises 42602 when the name is malformed, 42P01 or 3F000 when there is no
 * such table.
 */
Oid
ou_target_lock_by_name(const char *name, const LockRequest *request, LOCKMODE *held)
{
	List	   *names = textToQualifiedNameList(cstring_to_text(name));
	TableWait	wait = {request, name};
	ErrorContextCallback callback = {
		.previous = error_context_stack,
		.callback = add_wait_context,
		.arg = &wait,
	};
	Oid			relid;

	error_context_stack = &callback;
	relid = RangeVarGetRelidExtended(makeRangeVarFromNameList(names), RowExclusiveLock,
									 0, note_lock, held);
	lock_partitions(relid);
	error_context_stack = callback.previous;
	return relid;
}

/*
 * Lock the table relid, and check that it is still there: 42P01.
 */
static void
lock_table(Oid relid)
{
	LockRelationOid(relid, RowExclusiveLock);
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	lock_partitions(relid);
}

/*
 * Lock the table whose rows have type rowtype, and return its OID.  held is
 * set to how the transaction held it before, see find_lock.
 *
 * Raises 42809 when rowtype belongs to no relation, as a domain over a row type
 * does not, 42P01 when the table is gone.
 */
Oid
ou_target_lock_by_rowtype(Oid rowtype, const LockRequest *request, LOCKMODE *held)
{
	TableWait	wait = {.request = request};
	ErrorContextCallback callback = {
		.previous = error_context_stack,
		.callback = add_wait_context,
		.arg = &wait,
	};
	Oid			relid = get_typ_typrelid(rowtype);

	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("type %s is not the row type of a table",
						format_type_be(rowtype)),
				 errhint("Name the table by its row type, as in NULL::mytable.")));

	*held = find_lock(relid);
	if (ConditionalLockRelationOid(relid, RowExclusiveLock) &&
		get_rel_relkind(relid) == RELKIND_RELATION)
		return relid;

	/*
	 * The table is locked by somebody else, or gone, or has partitions: from
	 * here on we may wait or fail, and the context line needs the name.
	 */
	wait.name = format_type_be(rowtype);
	error_context_stack = &callback;
	lock_table(relid);
	error_context_stack = callback.previous;
	return relid;
}

/*
 * Whether the caller may read every column, and thereby ctid.
 */
bool
ou_target_is_readable(Oid relid)
{
	return pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK;
}

/*
 * Whether the caller may lock rows: UPDATE on one column is enough.
 */
bool
ou_target_is_lockable(Oid relid)
{
	return pg_class_aclcheck(relid, GetUserId(), ACL_UPDATE) == ACLCHECK_OK ||
		pg_attribute_aclcheck_all(relid, GetUserId(), ACL_UPDATE, ACLMASK_ANY) == ACLCHECK_OK;
}

/*
 * Whether rows of the table can be found by ctid: it stays with a locked row
 * in heap, names one row in a table without partitions, and is readable for
 * who may read every column.
 */
bool
ou_target_has_ctids(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Form_pg_class form;
	bool		result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	form = (Form_pg_class) GETSTRUCT(tuple);
	result = form->relkind == RELKIND_RELATION &&
		form->relam == HEAP_TABLE_AM_OID &&
		ou_target_is_readable(relid);
	ReleaseSysCache(tuple);
	return result;
}

/*
 * Check that rel is a kind of table whose rows can be locked in order: 42809.
 */
static void
check_kind(Relation rel)
{
	char		relkind = rel->rd_rel->relkind;

	if (relkind != RELKIND_RELATION && relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot lock rows of relation \"%s\" in order",
						RelationGetRelationName(rel)),
				 errdetail_relkind_not_supported(relkind),
				 errhint("Name an ordinary or partitioned table."),
				 errtable(rel)));
	if (IsSystemRelation(rel))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot lock rows of system catalog \"%s\" in order",
						RelationGetRelationName(rel)),
				 errhint("Name an ordinary or partitioned table."),
				 errtable(rel)));
}

/*
 * Check that a key value names one row of rel and not one in each child: 42809.
 */
static void
check_no_children(Relation rel)
{
	if (rel->rd_rel->relkind == RELKIND_RELATION &&
		rel->rd_rel->relhassubclass &&
		find_inheritance_children(RelationGetRelid(rel), NoLock) != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot lock rows of table \"%s\" in order because it has inheritance children",
						RelationGetRelationName(rel)),
				 errdetail("A primary key does not span inheritance children, so that a key can name several rows."),
				 errhint("Name the child table that holds the rows."),
				 errtable(rel)));
}

/*
 * Check that no rule turns event on rel into something else: 42809.  An INSERT
 * is always one that may turn into an UPDATE.
 */
static void
check_no_rules(Relation rel, CmdType event)
{
	RuleLock   *rules = rel->rd_rules;

	for (int i = 0; rules != NULL && i < rules->numLocks; i++)
	{
		CmdType		ruled = rules->rules[i]->event;

		if ((ruled == event || (event == CMD_INSERT && ruled == CMD_UPDATE)) &&
			rules->rules[i]->enabled != RULE_DISABLED)
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("cannot change rows of table \"%s\" in order because it has rules on the event",
							RelationGetRelationName(rel)),
					 errhint("Replace the rule by a trigger, or disable it."),
					 errtable(rel)));
	}
}

/*
 * Find the index of rel's primary key and open it.  NULL if there is none.
 */
static Relation
open_key_index(Relation rel)
{
	List	   *indexes = RelationGetIndexList(rel);
	Relation	result = NULL;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (index->rd_index->indisprimary)
		{
			result = index;
			break;
		}
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	return result;
}

/*
 * Attribute numbers of rel's primary key, in key order.  NIL if there is none.
 */
List *
ou_target_find_key(Relation rel)
{
	Relation	index = open_key_index(rel);
	List	   *attnums = NIL;

	if (index == NULL)
		return NIL;
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
		attnums = lappend_int(attnums, index->rd_index->indkey.values[i]);
	index_close(index, AccessShareLock);
	return attnums;
}

/*
 * Open the index of rel's primary key.  Raises 42P10 when there is none.
 */
static Relation
demand_key_index(Relation rel)
{
	Relation	index = open_key_index(rel);

	if (index == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
				 errmsg("table \"%s\" has no primary key",
						RelationGetRelationName(rel)),
				 errhint("Rows are locked in primary key order. Add a primary key."),
				 errtable(rel)));
	return index;
}

/*
 * Check that the primary key index enforces uniqueness at once, and orders.
 */
static void
check_key_index(Relation rel, Relation index)
{
	if (!index->rd_index->indimmediate)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
				 errmsg("primary key of table \"%s\" is deferrable",
						RelationGetRelationName(rel)),
				 errdetail("Inside a transaction a deferrable key can name several rows."),
				 errhint("Make the primary key not deferrable."),
				 errtableconstraint(rel, RelationGetRelationName(index))));
	if (index->rd_rel->relam != BTREE_AM_OID || !index->rd_index->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
				 errmsg("primary key of table \"%s\" does not order its rows",
						RelationGetRelationName(rel)),
				 errhint("Rows are locked in the order of a valid btree index."),
				 errtableconstraint(rel, RelationGetRelationName(index))));
}

/*
 * Check that keys can be passed to a statement in arrays: 0A000.
 */
static void
check_key_types(const Target *target)
{
	for (int i = 0; i < target->key->ncolumns; i++)
	{
		const KeyColumn *column = &target->key->columns[i];

		if (!OidIsValid(column->arraytype))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("primary key column \"%s\" of table \"%s\" is of type %s",
							column->name, target->name, format_type_be(column->type)),
					 errdetail("There are no arrays of this type, in which keys could be passed."),
					 errhint("Use a primary key of another type.")));
	}
}

/*
 * Describe the columns of rel.
 */
static TargetColumn *
describe_columns(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	TargetColumn *columns = palloc0(desc->natts * sizeof(TargetColumn));

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (att->attisdropped)
			continue;
		columns[i].name = pstrdup(NameStr(att->attname));
		columns[i].typmod = att->atttypmod;
		columns[i].type = getBaseTypeAndTypmod(att->atttypid, &columns[i].typmod);
		columns[i].collation = att->attcollation;
		columns[i].is_computed = att->attgenerated != '\0' ||
			att->attidentity == ATTRIBUTE_IDENTITY_ALWAYS;
	}
	return columns;
}

/*
 * Collect the attribute numbers of the columns that a foreign key could
 * reference, which is what decides the strength of a row lock in core too
 * (ExecUpdateLockMode).
 */
static Bitmapset *
describe_referable(Relation rel)
{
	Bitmapset  *offset = RelationGetIndexAttrBitmap(rel, INDEX_ATTR_BITMAP_KEY);
	Bitmapset  *result = NULL;
	int			member = -1;

	while ((member = bms_next_member(offset, member)) >= 0)
		result = bms_add_member(result, member + FirstLowInvalidHeapAttributeNumber);
	bms_free(offset);
	return ou_unique_columns_add_generated(result, rel);
}

/*
 * Describe how a table and its key are called.
 */
static void
describe_names(Target *target, Relation rel)
{
	StringInfoData names;

	initStringInfo(&names);
	ou_keytype_print_names(&names, target->key);
	target->key_names = names.data;
	target->schema = get_namespace_name(RelationGetNamespace(rel));
	target->name = pstrdup(RelationGetRelationName(rel));
	target->qualified = psprintf("%s.%s", target->schema, target->name);
}

/*
 * Describe the table relid, which is locked, for changes of kind event
 * (CMD_SELECT where rows are only locked).  The result and all it points to is
 * in the current memory context.
 *
 * Raises 42809 and 42P10 for what cannot be locked in order, as told above.
 */
Target *
ou_target_describe(Oid relid, CmdType event)
{
	Relation	rel = relation_open(relid, NoLock);
	Relation	index;
	Target	   *target = palloc0(sizeof(Target));

	check_kind(rel);
	check_no_children(rel);
	check_no_rules(rel, event);
	index = demand_key_index(rel);
	check_key_index(rel, index);

	target->relid = relid;
	target->rowtype = rel->rd_rel->reltype;
	target->relkind = rel->rd_rel->relkind;
	target->ncolumns = RelationGetDescr(rel)->natts;
	target->columns = describe_columns(rel);
	target->referable = describe_referable(rel);
	target->key = ou_keytype_describe(rel, index);
	describe_names(target, rel);
	for (int i = 0; i < target->key->ncolumns; i++)
		target->key_columns = bms_add_member(target->key_columns,
											 target->key->columns[i].attnum);

	check_key_types(target);

	index_close(index, AccessShareLock);
	relation_close(rel, NoLock);
	return target;
}

/*
 * Whether a column is as it was described.
 */
static bool
column_is_unchanged(const TargetColumn *column, Form_pg_attribute att)
{
	if (att->attisdropped || column->name == NULL)
		return att->attisdropped && column->name == NULL;
	return strcmp(NameStr(att->attname), column->name) == 0 &&
		getBaseType(att->atttypid) == column->type;
}

/*
 * Whether the names and types of a table, which is open, are as they were
 * described.
 */
bool
ou_target_is_unchanged(const Target *target)
{
	Relation	rel = relation_open(target->relid, NoLock);
	TupleDesc	desc = RelationGetDescr(rel);
	char	   *schema = get_namespace_name(RelationGetNamespace(rel));
	bool		result = desc->natts == target->ncolumns &&
	strcmp(RelationGetRelationName(rel), target->name) == 0 &&
	schema != NULL && strcmp(schema, target->schema) == 0;

	for (int i = 0; result && i < desc->natts; i++)
		result = column_is_unchanged(&target->columns[i], TupleDescAttr(desc, i));
	relation_close(rel, NoLock);
	return result;
}

/*
 * Describe no more than the names and the key of the table relid, which is
 * locked.  NULL if it has no key in the order of an index.
 */
Target *
ou_target_describe_key(Oid relid)
{
	Relation	rel = relation_open(relid, NoLock);
	Relation	index = open_key_index(rel);
	Target	   *target = NULL;

	if (index != NULL && index->rd_rel->relam == BTREE_AM_OID)
	{
		target = palloc0(sizeof(Target));
		target->relid = relid;
		target->key = ou_keytype_describe(rel, index);
		describe_names(target, rel);
	}
	if (index != NULL)
		index_close(index, AccessShareLock);
	relation_close(rel, NoLock);
	return target;
}

/*
 * Find a column of the table relid by its name, and return its attribute
 * number.  Raises 42703, with the hint if there is one, when there is none.
 */
AttrNumber
ou_target_find_column(Oid relid, const char *column, const char *hint)
{
	AttrNumber	attnum = get_attnum(relid, column);

	if (attnum <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						column, get_rel_name(relid)),
				 hint != NULL ? errhint("%s", _(hint)) : 0,
				 err_generic_string(PG_DIAG_SCHEMA_NAME,
									get_namespace_name(get_rel_namespace(relid))),
				 err_generic_string(PG_DIAG_TABLE_NAME, get_rel_name(relid)),
				 err_generic_string(PG_DIAG_COLUMN_NAME, column)));
	return attnum;
}

/*
 * Find the column that is to be counted up, and return its attribute number.
 * Raises 42703 when there is none of that name.
 */
AttrNumber
ou_target_find_counter(Oid relid, const char *column)
{
	return ou_target_find_column(relid, column,
								 gettext_noop("A counter is named by its bare column name, without SQL quoting."));
}

/*
 * Report that a column of target cannot be used as a counter.  Raises sqlstate.
 */
static void
report_not_counter(const Target *target, AttrNumber attnum, int sqlstate,
				   const char *detail)
{
	Relation	rel = relation_open(target->relid, NoLock);

	ereport(ERROR,
			(errcode(sqlstate),
			 errmsg("column \"%s\" of relation \"%s\" is not a counter",
					target->columns[attnum - 1].name, target->name),
			 errdetail_internal("%s", detail),
			 errtablecol(rel, attnum)));
}

/*
 * Check that amounts can be added to the column attnum of target: 42804 when
 * it is not numeric, 0A000 when it is part of the key.
 */
void
ou_target_check_counter(const Target *target, AttrNumber attnum)
{
	Oid			type = target->columns[attnum - 1].type;

	if (bms_is_member(attnum, target->key_columns))
		report_not_counter(target, attnum, ERRCODE_FEATURE_NOT_SUPPORTED,
						   _("It is part of the primary key, by which rows are locked in order."));

	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
		case FLOAT4OID:
		case FLOAT8OID:
			break;
		default:
			report_not_counter(target, attnum, ERRCODE_DATATYPE_MISMATCH,
							   psprintf(_("Its type %s is not numeric."),
										format_type_be(type)));
	}
}

/*
 * Check that amount can be added to the counter attnum: 22023 when it is a
 * fraction and the counter is of a whole-numbered type, which would round.
 */
void
ou_target_check_amount(const Target *target, AttrNumber attnum, Numeric amount)
{
	const TargetColumn *column = &target->columns[attnum - 1];
	Datum		value = NumericGetDatum(amount);

	if (column->type != INT2OID && column->type != INT4OID && column->type != INT8OID)
		return;
	if (numeric_is_nan(amount) || numeric_is_inf(amount) ||
		!DatumGetBool(DirectFunctionCall2(numeric_eq, value,
										  DirectFunctionCall2(numeric_trunc, value,
															  Int32GetDatum(0)))))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("amount %s is not a whole number",
						DatumGetCString(DirectFunctionCall1(numeric_out, value))),
				 errdetail("The counter \"%s\" is of type %s.",
						   column->name, format_type_be(column->type))));
}

/*
 * Check that every change names the whole key: 22023.  common are the columns
 * that all changes name.
 */
void
ou_target_check_named(const Target *target, const Bitmapset *common)
{
	for (int i = 0; i < target->key->ncolumns; i++)
		if (!bms_is_member(target->key->columns[i].attnum, common))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("key column \"%s\" is not named in every object",
							target->key->columns[i].name),
					 errdetail("The primary key says which row of table \"%s\" is meant.",
							   target->name)));
}
