/*-------------------------------------------------------------------------
 *
 * unique_columns.c
 *		The columns that unique indexes of a table look at.
 *
 * A statement that sets such a column can succeed with its rows in one order
 * and fail with them in another, because the index is checked row by row.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "nodes/readfuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "unique_columns.h"

/*
 * Add to attnums, attribute numbers, the columns of rel that expr is computed
 * from: all of them where it takes the whole row.
 */
Bitmapset *
ou_unique_columns_add_expression(Bitmapset *attnums, Relation rel, Node *expr)
{
	Bitmapset  *offset = NULL;
	int			member = -1;

	pull_varattnos(expr, 1, &offset);
	while ((member = bms_next_member(offset, member)) >= 0)
	{
		int			attnum = member + FirstLowInvalidHeapAttributeNumber;

		if (attnum > 0)
			attnums = bms_add_member(attnums, attnum);
		else if (attnum == 0)
			attnums = bms_add_range(attnums, 1, RelationGetNumberOfAttributes(rel));
	}
	bms_free(offset);
	return attnums;
}

/*
 * Add to attnums the columns that generated columns among them are computed
 * from: a change of those changes these.
 */
Bitmapset *
ou_unique_columns_add_generated(Bitmapset *attnums, Relation rel)
{
	TupleConstr *constr = RelationGetDescr(rel)->constr;

	for (int i = 0; constr != NULL && i < constr->num_defval; i++)
	{
		AttrNumber	attnum = constr->defval[i].adnum;

		if (TupleDescAttr(RelationGetDescr(rel), attnum - 1)->attgenerated != '\0' &&
			bms_is_member(attnum, attnums))
			attnums = ou_unique_columns_add_expression(attnums, rel, stringToNode(constr->defval[i].adbin));
	}
	return attnums;
}

/*
 * Add to attnums the columns that an index of rel looks at.
 */
static Bitmapset *
add_index_columns(Bitmapset *attnums, Relation rel, Relation index)
{
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
		if (index->rd_index->indkey.values[i] > 0)
			attnums = bms_add_member(attnums, index->rd_index->indkey.values[i]);
	attnums = ou_unique_columns_add_expression(attnums, rel, (Node *) RelationGetIndexExpressions(index));
	return ou_unique_columns_add_expression(attnums, rel, (Node *) RelationGetIndexPredicate(index));
}

/*
 * Add to attnums the columns of rel that an index of one of its children, a
 * row of pg_index, looks at: all columns where that is an expression's or a
 * predicate's business.  What a partition has from its parent is not looked
 * at again.
 */
static Bitmapset *
add_child_index_columns(Bitmapset *attnums, Relation rel, HeapTuple tuple)
{
	Form_pg_index form = (Form_pg_index) GETSTRUCT(tuple);

	if (!(form->indisunique || form->indisexclusion) || !form->indimmediate ||
		get_rel_relispartition(form->indexrelid))
		return attnums;
	if (!heap_attisnull(tuple, Anum_pg_index_indexprs, NULL) ||
		!heap_attisnull(tuple, Anum_pg_index_indpred, NULL))
		return bms_add_range(attnums, 1, RelationGetNumberOfAttributes(rel));
	for (int i = 0; i < form->indnkeyatts; i++)
	{
		char	   *name = get_attname(form->indrelid, form->indkey.values[i], true);
		AttrNumber	attnum = InvalidAttrNumber;

		if (name != NULL)
			attnum = get_attnum(RelationGetRelid(rel), name);
		if (attnum > 0)
			attnums = bms_add_member(attnums, attnum);
	}
	return attnums;
}

/*
 * Add to attnums the columns of rel that unique indexes of its partitions and
 * children look at, which they have for themselves.  The children are not
 * locked, as the statement may not come near them; one that is dropped
 * meanwhile has no columns.
 */
static Bitmapset *
add_children_unique_columns(Bitmapset *attnums, Relation rel)
{
	List	   *children;
	Relation	catalog;
	ListCell   *lc;

	if (!rel->rd_rel->relhassubclass)
		return attnums;
	children = find_all_inheritors(RelationGetRelid(rel), NoLock, NULL);
	catalog = table_open(IndexRelationId, AccessShareLock);
	for_each_from(lc, children, 1)
	{
		ScanKeyData key;
		SysScanDesc scan;
		HeapTuple	tuple;

		ScanKeyInit(&key, Anum_pg_index_indrelid, BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(lfirst_oid(lc)));
		scan = systable_beginscan(catalog, IndexIndrelidIndexId, true, NULL, 1, &key);
		while (HeapTupleIsValid(tuple = systable_getnext(scan)))
			attnums = add_child_index_columns(attnums, rel, tuple);
		systable_endscan(scan);
	}
	table_close(catalog, AccessShareLock);
	list_free(children);
	return attnums;
}

/*
 * Collect the columns that the unique indexes and exclusion constraints of
 * rel look at when a row is changed, not at the end of the transaction.  Sets
 * only_key to whether the primary key is the only one.
 */
static Bitmapset *
collect_unique_columns(Relation rel, bool *only_key)
{
	List	   *indexes = RelationGetIndexList(rel);
	Bitmapset  *attnums = NULL;
	Bitmapset  *children = add_children_unique_columns(NULL, rel);
	ListCell   *lc;

	*only_key = bms_is_empty(children);
	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		Form_pg_index form = index->rd_index;

		if ((form->indisunique || form->indisexclusion) && form->indimmediate)
		{
			attnums = add_index_columns(attnums, rel, index);
			*only_key = *only_key && form->indisprimary;
		}
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	return ou_unique_columns_add_generated(bms_join(attnums, children), rel);
}

/*
 * Attribute numbers of the columns of rel, any of which it takes to set for the
 * success of a statement to depend on the order of its rows.
 */
Bitmapset *
ou_unique_columns_find(Relation rel)
{
	bool		only_key;

	return collect_unique_columns(rel, &only_key);
}

/*
 * Whether a row to insert can only conflict with the primary key of rel.
 */
bool
ou_unique_columns_are_key(Relation rel)
{
	bool		only_key;

	bms_free(collect_unique_columns(rel, &only_key));
	return only_key;
}
