/*-------------------------------------------------------------------------
 *
 * keytype.c
 *		Order, equality and printing of a table's primary key.
 *
 * Everything comes from the primary key index: its operator family, its
 * comparator, its collations.  The order here is therefore the order of the
 * index, and two keys are equal here exactly when the index says so.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"
#include "keytype.h"

/*
 * Look up the operator of one strategy for key column i (from 0) of index.
 */
static Oid
find_operator(Relation index, int i, StrategyNumber strategy)
{
	Oid			opcintype = index->rd_opcintype[i];
	Oid			result = get_opfamily_member(index->rd_opfamily[i],
											 opcintype, opcintype, strategy);

	if (!OidIsValid(result))
		elog(ERROR, "missing operator %d(%u,%u) in opfamily %u",
			 strategy, opcintype, opcintype, index->rd_opfamily[i]);
	return result;
}

/*
 * Describe key column i (from 0) into column, which is zeroed.  The
 * comparator's memory is the current context.
 */
static void
describe_column(KeyColumn *column, Relation rel, Relation index, int i)
{
	AttrNumber	attnum = index->rd_index->indkey.values[i];
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);
	bool		isvarlena;

	column->attnum = attnum;
	column->name = pstrdup(NameStr(att->attname));
	column->type = getBaseType(att->atttypid);
	column->arraytype = get_array_type(column->type);
	get_typlenbyvalalign(column->type, &column->typlen, &column->typbyval,
						 &column->typalign);
	column->collation = index->rd_indcollation[i];
	column->equal = find_operator(index, i, BTEqualStrategyNumber);
	column->less = find_operator(index, i, BTLessStrategyNumber);
	getTypeOutputInfo(column->type, &column->output, &isvarlena);

	column->order.ssup_cxt = CurrentMemoryContext;
	column->order.ssup_collation = column->collation;
	column->order.ssup_attno = i + 1;
	ou_compat_prepare_index_order(index, &column->order);
}

/*
 * Describe the key that index, a btree over plain columns of rel, enforces.
 * The result and all it points to is in the current memory context.
 */
KeyType *
ou_keytype_describe(Relation rel, Relation index)
{
	int			ncolumns = IndexRelationGetNumberOfKeyAttributes(index);
	KeyType    *keytype = palloc0(offsetof(KeyType, columns) +
								  ncolumns * sizeof(KeyColumn));

	keytype->ncolumns = ncolumns;
	for (int i = 0; i < ncolumns; i++)
		describe_column(&keytype->columns[i], rel, index, i);
	return keytype;
}

/*
 * Compare two keys: negative, zero or positive, as the index orders them.
 */
int
ou_keytype_compare(KeyType *keytype, const Datum *a, const Datum *b)
{
	for (int i = 0; i < keytype->ncolumns; i++)
	{
		int			order = ApplySortComparator(a[i], false, b[i], false,
												&keytype->columns[i].order);

		if (order != 0)
			return order;
	}
	return 0;
}

/*
 * Copy a key into context.
 */
Datum *
ou_keytype_copy(const KeyType *keytype, const Datum *key, MemoryContext context)
{
	MemoryContext caller = MemoryContextSwitchTo(context);
	Datum	   *copy = palloc(keytype->ncolumns * sizeof(Datum));

	for (int i = 0; i < keytype->ncolumns; i++)
		copy[i] = datumCopy(key[i], keytype->columns[i].typbyval, keytype->columns[i].typlen);
	MemoryContextSwitchTo(caller);
	return copy;
}

/*
 * Append a key to out, as "(1, abc)".
 */
void
ou_keytype_print(StringInfo out, const KeyType *keytype, const Datum *key)
{
	appendStringInfoChar(out, '(');
	for (int i = 0; i < keytype->ncolumns; i++)
		appendStringInfo(out, "%s%s", i > 0 ? ", " : "",
						 OidOutputFunctionCall(keytype->columns[i].output, key[i]));
	appendStringInfoChar(out, ')');
}

/*
 * Append the names of the key columns to out, as "(a, b)".
 */
void
ou_keytype_print_names(StringInfo out, const KeyType *keytype)
{
	appendStringInfoChar(out, '(');
	for (int i = 0; i < keytype->ncolumns; i++)
		appendStringInfo(out, "%s%s", i > 0 ? ", " : "", keytype->columns[i].name);
	appendStringInfoChar(out, ')');
}
