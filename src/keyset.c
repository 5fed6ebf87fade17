/*-------------------------------------------------------------------------
 *
 * keyset.c
 *		The keys of a batch: no nulls, no duplicates, in key order.
 *
 * Values arrive in an array of the key's type, of a type that can be cast to
 * it, of records, or of the table's own rows.  They are brought to the key
 * columns' exact types, sorted by the primary key's comparator and freed of
 * duplicates by the same comparator: never by bytes.
 *
 * The keys are sorted in place with the server's quicksort.  They are in
 * memory already, so that a tuplesort would only copy them once more; both
 * forms of the sort check for interrupts as tuplesort's does.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "compat.h"
#include "keyset.h"

/* How a value of some type becomes a value of a key column's type. */
typedef struct KeyCast
{
	Oid			source;			/* type the cast was made for */
	CoercionPathType path;
	FmgrInfo	function;		/* cast function, or source's output */
	FmgrInfo	input;			/* input function of the key's type */
	Oid			ioparam;
	bool		lossy;			/* must be cast back and compared */
	FmgrInfo	back;
	FmgrInfo	equal;
} KeyCast;

/*
 * Check what can be checked of an array of keys before the table is known:
 * 2202E for more than one dimension, 22023 for none, 22004 for a null.
 */
void
ou_keyset_check_array(const ArrayType *array)
{
	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("batch must be a one-dimensional array"),
				 errdetail("The array has %d dimensions.", ARR_NDIM(array))));
	if (ARR_NDIM(array) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("batch must not be empty")));
	if (array_contains_nulls(unconstify(ArrayType *, array)))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("batch must not contain nulls")));
}

/*
 * Report that values of type source cannot be keys of column: 42804.
 */
static void
report_wrong_type(const KeyColumn *column, Oid source)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("primary key column \"%s\" is of type %s but the key is of type %s",
					column->name, format_type_be(column->type),
					format_type_be(source)),
			 errhint("Cast the keys to %s.", format_type_be(column->type))));
}

/*
 * Look up a cast function.  Raises 42501 if the caller may not call it, as the
 * executor does.
 */
static void
look_up_cast(Oid function, FmgrInfo *info)
{
	AclResult	result = ou_compat_check_function(function);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_FUNCTION, get_func_name(function));
	fmgr_info(function, info);
}

/*
 * Prepare to check that a cast between numbers kept the value: 1.5 must not
 * name row 2.
 */
static void
prepare_cast_back(KeyCast *cast, const KeyColumn *column)
{
	Oid			function;
	TypeCacheEntry *type = lookup_type_cache(cast->source, TYPECACHE_EQ_OPR_FINFO);

	cast->lossy = find_coercion_pathway(cast->source, column->type,
										COERCION_ASSIGNMENT,
										&function) == COERCION_PATH_FUNC &&
		get_func_nargs(function) == 1 &&
		OidIsValid(type->eq_opr);
	if (cast->lossy)
	{
		look_up_cast(function, &cast->back);
		fmgr_info_copy(&cast->equal, &type->eq_opr_finfo, CurrentMemoryContext);
	}
}

/*
 * Prepare the cast of values of type source to the type of column.  Strings
 * are read by the type's input function, as untyped parameters of drivers
 * arrive so.  Raises 42804 where SQL would not assign the one to the other, and
 * 42501 where the caller may not.
 */
static void
prepare_cast(KeyCast *cast, const KeyColumn *column, Oid source)
{
	Oid			function = InvalidOid;
	bool		is_string = TypeCategory(getBaseType(source)) == TYPCATEGORY_STRING;
	bool		isvarlena;

	cast->source = source;
	cast->lossy = false;
	if (source == UNKNOWNOID)
		cast->path = COERCION_PATH_COERCEVIAIO;
	else
		cast->path = find_coercion_pathway(column->type, getBaseType(source),
										   is_string ? COERCION_EXPLICIT : COERCION_ASSIGNMENT,
										   &function);
	switch (cast->path)
	{
		case COERCION_PATH_RELABELTYPE:
			break;
		case COERCION_PATH_FUNC:
			look_up_cast(function, &cast->function);
			prepare_cast_back(cast, column);
			break;
		case COERCION_PATH_COERCEVIAIO:
			getTypeOutputInfo(source, &function, &isvarlena);
			fmgr_info(function, &cast->function);
			getTypeInputInfo(column->type, &function, &cast->ioparam);
			fmgr_info(function, &cast->input);
			break;
		default:
			report_wrong_type(column, source);
	}
}

/*
 * Call a cast function, which takes one to three arguments: the value, a type
 * modifier and whether the cast is explicit.
 */
static Datum
call_cast(FmgrInfo *function, Datum value)
{
	switch (function->fn_nargs)
	{
		case 1:
			return FunctionCall1(function, value);
		case 2:
			return FunctionCall2(function, value, Int32GetDatum(-1));
		default:
			return FunctionCall3(function, value, Int32GetDatum(-1),
								 BoolGetDatum(false));
	}
}

/*
 * Cast value to the type of column, without its type modifier: rounding to a
 * column's scale could name another row.  Raises the type's own error, or
 * 22023 when the value is changed by the cast.
 */
static Datum
cast_value(KeyCast *cast, const KeyColumn *column, Datum value)
{
	Datum		result;

	if (cast->path == COERCION_PATH_RELABELTYPE)
		return value;
	if (cast->path == COERCION_PATH_COERCEVIAIO)
		return InputFunctionCall(&cast->input,
								 OutputFunctionCall(&cast->function, value),
								 cast->ioparam, -1);

	result = call_cast(&cast->function, value);
	if (cast->lossy &&
		!DatumGetBool(FunctionCall2Coll(&cast->equal, C_COLLATION_OID, value,
										FunctionCall1(&cast->back, result))))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key is not a value of type %s",
						format_type_be(column->type)),
				 errdetail("The cast would change it to %s.",
						   OidOutputFunctionCall(column->output, result))));
	return result;
}

/*
 * Compare two keys for qsort_arg.
 */
static int
compare_keys(const void *a, const void *b, void *keytype)
{
	CHECK_FOR_INTERRUPTS();
	return ou_keytype_compare(keytype, a, b);
}

/*
 * Sort keys of one column: void sort_single_keys(Datum *keys, size_t nkeys,
 * SortSupport order).  The server's template puts the comparator's call in
 * line, which takes a third of the instructions of qsort_arg.
 */
#define ST_SORT sort_single_keys
#define ST_ELEMENT_TYPE Datum
#define ST_COMPARE(a, b, order) ApplySortComparator(*(a), false, *(b), false, order)
#define ST_COMPARE_ARG_TYPE struct SortSupportData
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Whether the keys are strictly ascending already.
 */
static bool
is_ascending(const Keyset *keys)
{
	for (int i = 1; i < keys->nkeys; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (ou_keytype_compare(keys->keytype, ou_keyset_key(keys, i - 1),
							   ou_keyset_key(keys, i)) >= 0)
			return false;
	}
	return true;
}

/*
 * Remove the later ones of equal neighbours.
 */
static void
remove_duplicates(Keyset *keys)
{
	Size		keysize = keys->keytype->ncolumns * sizeof(Datum);
	int			kept = 1;

	for (int i = 1; i < keys->nkeys; i++)
	{
		const Datum *key = ou_keyset_key(keys, i);

		CHECK_FOR_INTERRUPTS();
		if (ou_keytype_compare(keys->keytype, ou_keyset_key(keys, kept - 1), key) != 0)
			memmove(unconstify(Datum *, ou_keyset_key(keys, kept++)), key, keysize);
	}
	keys->nkeys = kept;
}

/*
 * Bring the keys into strictly ascending order.
 */
static void
normalise(Keyset *keys)
{
	if (is_ascending(keys))
		return;
	if (keys->keytype->ncolumns == 1)
		sort_single_keys(keys->values, keys->nkeys, &keys->keytype->columns[0].order);
	else
		qsort_arg(keys->values, keys->nkeys, keys->keytype->ncolumns * sizeof(Datum),
				  compare_keys, keys->keytype);
	remove_duplicates(keys);
}

/*
 * Make an empty set with room for capacity keys, in the current context.
 */
static Keyset *
make_keyset(KeyType *keytype, int capacity)
{
	Keyset	   *keys = palloc(sizeof(Keyset));

	keys->keytype = keytype;
	keys->nkeys = 0;
	keys->capacity = Max(capacity, 1);
	keys->context = CurrentMemoryContext;
	keys->values = MemoryContextAllocHuge(CurrentMemoryContext,
										  (Size) keys->capacity * keytype->ncolumns * sizeof(Datum));
	return keys;
}

/*
 * Make an empty set that keys are appended to, in the current context.
 */
Keyset *
ou_keyset_make(KeyType *keytype)
{
	return make_keyset(keytype, 64);
}

/*
 * Append a copy of a key that comes after all others.
 */
void
ou_keyset_append(Keyset *keys, const Datum *key)
{
	MemoryContext caller = MemoryContextSwitchTo(keys->context);
	KeyType    *keytype = keys->keytype;
	Datum	   *copy;

	if (keys->nkeys == keys->capacity)
	{
		keys->capacity *= 2;
		keys->values = repalloc_huge(keys->values,
									 (Size) keys->capacity * keytype->ncolumns * sizeof(Datum));
	}
	copy = unconstify(Datum *, ou_keyset_key(keys, keys->nkeys++));
	for (int i = 0; i < keytype->ncolumns; i++)
		copy[i] = datumCopy(key[i], keytype->columns[i].typbyval, keytype->columns[i].typlen);
	MemoryContextSwitchTo(caller);
}

/*
 * Cast the values of keys, which are of type source, to the one key column.
 */
static void
cast_scalars(Keyset *keys, Oid source)
{
	const KeyColumn *column = &keys->keytype->columns[0];
	KeyCast		cast;

	if (source == column->type)
		return;
	prepare_cast(&cast, column, source);
	for (int i = 0; i < keys->nkeys; i++)
	{
		CHECK_FOR_INTERRUPTS();
		keys->values[i] = cast_value(&cast, column, keys->values[i]);
	}
}

/*
 * Number of the field, from 0, that has the name of a key column, in rows of
 * another table: a partition has its columns in an order of its own.  Raises
 * 42804 if there is none.
 */
static int
find_field_by_name(Oid rowtype, TupleDesc desc, const KeyColumn *column)
{
	for (int field = 0; field < desc->natts; field++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, field);

		if (!att->attisdropped && strcmp(NameStr(att->attname), column->name) == 0)
			return field;
	}
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("rows of type %s have no key column \"%s\"",
					format_type_be(rowtype), column->name),
			 errhint("Pass the keys as ARRAY[(1,2),(1,3)], or as rows of the table.")));
}

/*
 * Whether a type is that of the rows of some table.
 */
static bool
is_table_row(Oid rowtype)
{
	Oid			relid = rowtype == RECORDOID ? InvalidOid : get_typ_typrelid(rowtype);

	return OidIsValid(relid) && get_rel_relkind(relid) != RELKIND_COMPOSITE_TYPE;
}

/*
 * Number of the field of a record, from 0, that holds key column i: a record has
 * the key columns and nothing else, dropped attributes of its type aside.
 */
static int
find_field_by_position(TupleDesc desc, int i)
{
	int			field = 0;

	for (;; field++)
		if (!TupleDescAttr(desc, field)->attisdropped && i-- == 0)
			return field;
}

/*
 * Check that a record can hold a key of target: 42804.
 */
static void
check_record(const Target *target, TupleDesc desc)
{
	int			ncolumns = 0;

	for (int field = 0; field < desc->natts; field++)
		if (!TupleDescAttr(desc, field)->attisdropped)
			ncolumns++;
	if (ncolumns != target->key->ncolumns)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("key has the wrong number of columns"),
				 errdetail("Columns of the primary key of table \"%s\": %d. Columns of the record: %d.",
						   target->name, target->key->ncolumns, ncolumns)));
}

/*
 * Read one key out of a record into key.  casts holds a cast for each key
 * column; records of one array may differ in their fields' types.
 */
static void
read_record(const Target *target, Datum record, KeyCast *casts, Datum *key)
{
	HeapTupleHeader header = DatumGetHeapTupleHeader(record);
	Oid			rowtype = HeapTupleHeaderGetTypeId(header);
	TupleDesc	desc = lookup_rowtype_tupdesc(rowtype, HeapTupleHeaderGetTypMod(header));
	bool		has_names = rowtype == target->rowtype || is_table_row(rowtype);

	if (!has_names)
		check_record(target, desc);
	for (int i = 0; i < target->key->ncolumns; i++)
	{
		const KeyColumn *column = &target->key->columns[i];
		int			field = has_names ? find_field_by_name(rowtype, desc, column) :
		find_field_by_position(desc, i);
		Oid			source = getBaseType(TupleDescAttr(desc, field)->atttypid);
		bool		isnull;

		key[i] = GetAttributeByNum(header, field + 1, &isnull);
		if (isnull)
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("key column \"%s\" must not be null", column->name)));
		if (source == column->type)
			continue;
		if (source != casts[i].source)
			prepare_cast(&casts[i], column, source);
		key[i] = cast_value(&casts[i], column, key[i]);
	}
	ReleaseTupleDesc(desc);
}

/*
 * Read the keys out of nrecords records.
 */
static Keyset *
read_records(const Target *target, const Datum *records, int nrecords)
{
	Keyset	   *keys = make_keyset(target->key, nrecords);
	KeyCast    *casts = palloc0(target->key->ncolumns * sizeof(KeyCast));

	for (int i = 0; i < nrecords; i++)
	{
		CHECK_FOR_INTERRUPTS();
		read_record(target, records[i], casts,
					unconstify(Datum *, ou_keyset_key(keys, keys->nkeys++)));
	}
	return keys;
}

/*
 * Make the keys of target out of a checked array: of values, where the key
 * has one column, of records or of the table's rows.  Values may point into
 * array.
 *
 * Raises 42804 for types that do not fit, 22004 for a null in a record, and
 * whatever the key type's input says of a value.
 */
Keyset *
ou_keyset_from_array(const Target *target, ArrayType *array)
{
	Oid			element = getBaseType(ARR_ELEMTYPE(array));
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *values;
	int			nvalues;
	Keyset	   *keys;

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &typlen, &typbyval, &typalign);
	deconstruct_array(array, ARR_ELEMTYPE(array), typlen, typbyval, typalign,
					  &values, NULL, &nvalues);

	if (type_is_rowtype(element) &&
		(target->key->ncolumns > 1 || element != target->key->columns[0].type))
		keys = read_records(target, values, nvalues);
	else if (target->key->ncolumns > 1)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("keys of table \"%s\" must be records", target->name),
				 errdetail("Columns of its primary key: %d.", target->key->ncolumns),
				 errhint("Pass the keys as ARRAY[(1,2),(1,3)], or as rows of the table.")));
	else
	{
		keys = palloc(sizeof(Keyset));
		keys->keytype = target->key;
		keys->nkeys = nvalues;
		keys->capacity = nvalues;
		keys->context = CurrentMemoryContext;
		keys->values = values;
		cast_scalars(keys, element);
	}
	normalise(keys);
	return keys;
}

/*
 * Make a set of the keys at the given positions, which ascend.
 */
Keyset *
ou_keyset_pick(const Keyset *keys, const int *positions, int npositions)
{
	Keyset	   *result = make_keyset(keys->keytype, npositions);
	Size		keysize = keys->keytype->ncolumns * sizeof(Datum);

	for (int i = 0; i < npositions; i++)
		memcpy(unconstify(Datum *, ou_keyset_key(result, result->nkeys++)),
			   ou_keyset_key(keys, positions[i]), keysize);
	return result;
}

/*
 * Make a set of all keys but those at the given positions, which ascend.
 */
Keyset *
ou_keyset_omit(const Keyset *keys, const int *positions, int npositions)
{
	Keyset	   *result = make_keyset(keys->keytype, keys->nkeys - npositions);
	Size		keysize = keys->keytype->ncolumns * sizeof(Datum);
	int			omitted = 0;

	for (int i = 0; i < keys->nkeys; i++)
	{
		if (omitted < npositions && positions[omitted] == i)
			omitted++;
		else
			memcpy(unconstify(Datum *, ou_keyset_key(result, result->nkeys++)),
				   ou_keyset_key(keys, i), keysize);
	}
	return result;
}

/*
 * Make an array of the values that the keys have in one key column (from 0),
 * in key order.
 */
static Datum
make_array(const Keyset *keys, int column)
{
	const KeyColumn *type = &keys->keytype->columns[column];
	int			ncolumns = keys->keytype->ncolumns;
	Datum	   *values = keys->values;
	ArrayType  *array;

	if (ncolumns > 1)
	{
		values = MemoryContextAllocHuge(CurrentMemoryContext,
										(Size) Max(keys->nkeys, 1) * sizeof(Datum));
		for (int i = 0; i < keys->nkeys; i++)
			values[i] = ou_keyset_key(keys, i)[column];
	}
	array = construct_array(values, keys->nkeys, type->type,
							type->typlen, type->typbyval, type->typalign);
	if (ncolumns > 1)
		pfree(values);
	return PointerGetDatum(array);
}

/*
 * Store the values of the keys as the parameters of a statement: an array for
 * each key column, in key order.  Returns how many there are.
 */
int
ou_keyset_to_params(const Keyset *keys, Datum *values)
{
	for (int i = 0; i < keys->keytype->ncolumns; i++)
		values[i] = make_array(keys, i);
	return keys->keytype->ncolumns;
}
