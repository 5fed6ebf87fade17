/*-------------------------------------------------------------------------
 *
 * insert_source.c
 *		The rows that an INSERT ... ON CONFLICT is about to insert.
 *
 * What they are ordered by, and how to order them without changing what is
 * inserted: values that are made up as the rows go by, such as nextval(), and
 * the choice of the first among equal rows, must be settled before the rows
 * are sorted.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/typcache.h"

#include "insert_source.h"
#include "target.h"

/* State of the substitution of columns by the values to insert. */
typedef struct Substitution
{
	const Query *query;
	bool		lacks_value;
} Substitution;

/*
 * Make a column of the target.
 */
static Node *
make_target_column(const Query *query, Relation rel, AttrNumber attnum)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);

	return (Node *) makeVar(query->resultRelation, attnum, att->atttypid,
							att->atttypmod, att->attcollation, 0);
}

/*
 * Turn attribute numbers of the target, in the order given, into columns.
 */
static List *
make_target_columns(const Query *query, Relation rel, const List *attnums)
{
	List	   *columns = NIL;
	ListCell   *lc;

	foreach(lc, attnums)
		columns = lappend(columns, make_target_column(query, rel, lfirst_int(lc)));
	return columns;
}

/*
 * Collect the plain columns of the arbiter into attnums, and return the rest,
 * the expressions.
 */
static List *
split_arbiter(const OnConflictExpr *conflict, Bitmapset **attnums)
{
	List	   *expressions = NIL;
	ListCell   *lc;

	foreach(lc, conflict->arbiterElems)
	{
		Node	   *expr = castNode(InferenceElem, lfirst(lc))->expr;

		if (IsA(expr, Var) && ((Var *) expr)->varattno > 0)
			*attnums = bms_add_member(*attnums, ((Var *) expr)->varattno);
		else
			expressions = lappend(expressions, copyObject(expr));
	}
	return expressions;
}

/*
 * Collect the columns of the index of a constraint into attnums.
 */
static void
add_constraint_columns(Oid index_oid, Bitmapset **attnums)
{
	Relation	index;

	if (!OidIsValid(index_oid))
		return;					/* the planner will complain */
	index = index_open(index_oid, AccessShareLock);
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
		if (index->rd_index->indkey.values[i] > 0)
			*attnums = bms_add_member(*attnums, index->rd_index->indkey.values[i]);
	index_close(index, AccessShareLock);
}

/*
 * What the rows of an INSERT ... ON CONFLICT are ordered by: the columns that
 * find the conflict, or the primary key where any conflict counts.  Two
 * statements that name the same columns get the same order, however they write
 * them: that of the primary key if it has these columns, else that of the
 * table, with expressions behind.  NIL if there is nothing to order by.
 */
List *
ou_insert_find_arbiter(const Query *query, Relation rel)
{
	const OnConflictExpr *conflict = query->onConflict;
	Bitmapset  *attnums = NULL;
	List	   *expressions = split_arbiter(conflict, &attnums);
	List	   *key = ou_target_find_key(rel);
	List	   *sorted = NIL;
	int			attnum = -1;
	ListCell   *lc;

	if (OidIsValid(conflict->constraint))
		add_constraint_columns(get_constraint_index(conflict->constraint), &attnums);
	else if (conflict->arbiterElems == NIL)
		return make_target_columns(query, rel, key);

	while ((attnum = bms_next_member(attnums, attnum)) >= 0)
		sorted = lappend_int(sorted, attnum);
	foreach(lc, key)
	{
		attnums = bms_is_member(lfirst_int(lc), attnums) ?
			bms_del_member(attnums, lfirst_int(lc)) : bms_add_member(attnums, lfirst_int(lc));
	}
	if (bms_is_empty(attnums) && expressions == NIL)
		sorted = key;
	return list_concat(make_target_columns(query, rel, sorted), expressions);
}

/*
 * Whether the arbiter has an expression that is not computed for every row, as
 * the index is partial: it could fail for the others.
 */
bool
ou_insert_has_partial_expression(const Query *query)
{
	Bitmapset  *attnums = NULL;

	return query->onConflict->arbiterWhere != NULL &&
		split_arbiter(query->onConflict, &attnums) != NIL;
}

/*
 * Whether values that a column of an index finds equal are equal as values of
 * the given type and collation as well.
 */
static bool
equals_by_default(Relation index, int column, Oid type, Oid collation)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_EQ_OPR);
	Oid			index_collation = index->rd_indcollation[column];
	Oid			opcintype = index->rd_opcintype[column];

	if (index_collation != collation &&
		!(get_collation_isdeterministic(index_collation) &&
		  get_collation_isdeterministic(collation)))
		return false;
	return entry->eq_opr == get_opfamily_member(index->rd_opfamily[column], opcintype,
												opcintype, BTEqualStrategyNumber);
}

/*
 * Whether rows that a unique index finds equal are next to each other once
 * they are sorted by its columns, each by the order of its type.
 */
static bool
sorts_equal_rows_together(Relation rel, Relation index)
{
	List	   *expressions = RelationGetIndexExpressions(index);
	ListCell   *next = list_head(expressions);

	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
	{
		AttrNumber	attnum = index->rd_index->indkey.values[i];
		Oid			type;
		Oid			collation;
		int32		typmod;

		if (attnum != 0)
			get_atttypetypmodcoll(RelationGetRelid(rel), attnum, &type, &typmod, &collation);
		else
		{
			type = exprType(lfirst(next));
			collation = exprCollation(lfirst(next));
			next = lnext(expressions, next);
		}
		if (!equals_by_default(index, i, type, collation))
			return false;
	}
	return true;
}

/*
 * Whether an index of rel, one that could find conflicts, leaves it to a sort
 * by the arbiter to keep the first one of conflicting rows in front.
 */
static bool
index_keeps_first(const OnConflictExpr *conflict, Relation rel, Relation index)
{
	if (index->rd_index->indisexclusion && conflict->arbiterElems == NIL &&
		(!OidIsValid(conflict->constraint) ||
		 get_constraint_index(conflict->constraint) == RelationGetRelid(index)))
		return false;
	return !index->rd_index->indisunique || sorts_equal_rows_together(rel, index);
}

/*
 * Whether it matters which of equal rows comes first: where a conflict may
 * drop the row.  Where it always updates, equal rows are an error.
 */
static bool
first_row_counts(const Query *query)
{
	return query->onConflict->action != ONCONFLICT_UPDATE ||
		query->onConflict->onConflictWhere != NULL;
}

/*
 * Whether a trigger can change the rows before the arbiter is applied to them,
 * where it matters: for which of equal rows comes first, and for an expression,
 * which may not be had of the row before.
 */
bool
ou_insert_is_changed_first(const Query *query, Relation rel)
{
	Bitmapset  *attnums = NULL;

	return rel->trigdesc != NULL && rel->trigdesc->trig_insert_before_row &&
		(first_row_counts(query) || split_arbiter(query->onConflict, &attnums) != NIL);
}

/*
 * Whether the row that comes first among those that exclude each other still
 * does when the rows are sorted by the arbiter, equal ones in the order in which
 * they come.  That takes an arbiter that excludes equal rows and no others.  Of
 * no concern where a second row is an error.
 */
bool
ou_insert_keeps_first(const Query *query, Relation rel)
{
	List	   *indexes;
	bool		result = true;
	ListCell   *lc;

	if (!first_row_counts(query))
		return true;
	indexes = RelationGetIndexList(rel);
	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (!index_keeps_first(query->onConflict, rel, index))
			result = false;
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	return result;
}

/*
 * Give an expression the collation of the column that it goes into.
 */
static Node *
collate_as(Node *expr, Oid collation)
{
	CollateExpr *collate;

	if (exprCollation(expr) == collation)
		return expr;
	collate = makeNode(CollateExpr);
	collate->arg = (Expr *) expr;
	collate->collOid = collation;
	collate->location = -1;
	return (Node *) collate;
}

/*
 * Mutator: put the value to insert in the place of a column of the target.
 */
static Node *
substitute(Node *node, void *context)
{
	Substitution *state = context;
	Var		   *var = (Var *) node;
	ListCell   *lc;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var) || var->varno != state->query->resultRelation)
		return expression_tree_mutator(node, substitute, context);
	foreach(lc, state->query->targetList)
	{
		TargetEntry *entry = lfirst(lc);

		if (!entry->resjunk && entry->resno == var->varattno)
			return collate_as(copyObject((Node *) entry->expr), var->varcollid);
	}
	state->lacks_value = true;
	return node;
}

/*
 * Turn an expression over columns of the target into one over the rows to
 * insert.  NULL if there is a column that they give no value for.
 */
Node *
ou_insert_substitute(Node *expr, const Query *query)
{
	Substitution state = {.query = query};
	Node	   *result = substitute(expr, &state);

	return state.lacks_value ? NULL : result;
}

/*
 * Whether a sort of the rows could change what is inserted: values that are
 * made up row by row would be made up in the new order, and of equal rows
 * another one could come first.
 */
bool
ou_insert_must_settle(const Query *query)
{
	return first_row_counts(query) ||
		contain_volatile_functions((Node *) query->targetList);
}

/*
 * Walker: count the references to common table expressions outside of the
 * query at hand one level further, as that query is moved down by one.
 */
static bool
shift_cte_references(Node *node, void *context)
{
	int			depth = *(int *) context;

	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;

		if (rte->rtekind == RTE_CTE && (int) rte->ctelevelsup >= depth)
			rte->ctelevelsup++;
		return false;			/* the caller visits what is in it */
	}
	if (IsA(node, Query))
	{
		int			deeper = depth + 1;

		return query_tree_walker((Query *) node, shift_cte_references, &deeper,
								 QTW_EXAMINE_RTES_BEFORE);
	}
	return expression_tree_walker(node, shift_cte_references, context);
}

/*
 * Add a column with the number of each row, in the order in which they come.
 */
static void
add_row_number(Query *source)
{
	WindowFunc *function = makeNode(WindowFunc);
	WindowClause *window = makeNode(WindowClause);

	function->winfnoid = F_ROW_NUMBER;
	function->wintype = INT8OID;
	function->winref = 1;
	function->location = -1;
	window->winref = 1;
	window->frameOptions = FRAMEOPTION_DEFAULTS;
	source->hasWindowFuncs = true;
	source->windowClause = list_make1(window);
	source->targetList = lappend(source->targetList,
								 makeTargetEntry((Expr *) function,
												 list_length(source->targetList) + 1,
												 pstrdup("row_number"), false));
}

/*
 * Make a query that returns the values that query inserts, in the columns 1,
 * 2, ..., and behind them keys.
 */
static Query *
make_source(const Query *query, List *keys)
{
	Query	   *source = copyObject(unconstify(Query *, query));
	int			depth = 0;
	ListCell   *lc;

	source->commandType = CMD_SELECT;
	source->resultRelation = 0;
	source->onConflict = NULL;
	source->override = OVERRIDING_NOT_SET;
	source->returningList = NIL;
	source->withCheckOptions = NIL;
	source->constraintDeps = NIL;
	source->cteList = NIL;
	source->hasModifyingCTE = false;
	source->hasRecursive = false;
	source->targetList = NIL;
	foreach(lc, query->targetList)
		source->targetList = lappend(source->targetList,
									 makeTargetEntry(copyObject(((TargetEntry *) lfirst(lc))->expr),
													 list_length(source->targetList) + 1,
													 pstrdup("value"), false));
	foreach(lc, keys)
		source->targetList = lappend(source->targetList,
									 makeTargetEntry(lfirst(lc),
													 list_length(source->targetList) + 1,
													 pstrdup("key"), false));
	(void) query_tree_walker(source, shift_cte_references, &depth, QTW_EXAMINE_RTES_BEFORE);
	return source;
}

/*
 * Make source the only relation that query takes rows from, and return its
 * number in the range table.
 */
static int
replace_source(Query *query, Query *source)
{
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	RangeTblRef *ref = makeNode(RangeTblRef);
	ListCell   *lc;

	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = source;
	rte->eref = makeAlias("rows to insert", NIL);
	foreach(lc, source->targetList)
		rte->eref->colnames = lappend(rte->eref->colnames,
									  makeString(((TargetEntry *) lfirst(lc))->resname));
	query->rtable = lappend(query->rtable, rte);
	ref->rtindex = list_length(query->rtable);
	query->jointree = makeFromExpr(list_make1(ref), NULL);
	return ref->rtindex;
}

/*
 * Settle the rows that query inserts in a subquery, below the sort, with the
 * values of keys, expressions over its source.  Returns the keys as columns of
 * the subquery; where the first of equal rows wins, the number of the row is
 * one more key.
 */
List *
ou_insert_settle(Query *query, List *keys)
{
	Query	   *source = make_source(query, keys);
	int			nvalues = list_length(query->targetList);
	List	   *result = NIL;
	int			rti;
	ListCell   *lc;

	if (first_row_counts(query))
		add_row_number(source);
	rti = replace_source(query, source);
	foreach(lc, source->targetList)
	{
		TargetEntry *entry = lfirst(lc);
		Var		   *var = makeVarFromTargetEntry(rti, entry);

		if (entry->resno <= nvalues)
			((TargetEntry *) list_nth(query->targetList, entry->resno - 1))->expr = (Expr *) var;
		else
			result = lappend(result, var);
	}
	return result;
}
