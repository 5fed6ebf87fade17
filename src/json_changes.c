/*-------------------------------------------------------------------------
 *
 * json_changes.c
 *		A JSON batch: which columns its objects name.
 *
 * Only the names are read here.  The values are brought to the columns' types
 * by the server itself, in the statement that reads the batch.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/attnum.h"
#include "miscadmin.h"

#include "json_changes.h"

/* From how many objects on a batch is read one by one. */
#define MANY_OBJECTS 100000

/*
 * The members of the object before.  Objects of one batch tend to have the
 * same members, and jsonb keeps members in one order, so that most names are
 * found without a look into the catalogs.
 */
typedef struct MemberMemo
{
	const char *name;			/* not terminated, points into the batch */
	int			len;
	AttrNumber	attnum;
} MemberMemo;

typedef struct MemberReader
{
	Oid			relid;
	MemberMemo *memos;
	int			nmemos;
} MemberReader;

/*
 * Raise 22023 for JSON of the wrong shape.
 */
static void
report_wrong_shape(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("changes must be a JSON array of objects"),
			 errhint("Write changes as [{\"id\": 1, \"column\": \"value\"}, ...].")));
}

/*
 * Look up the column that a member names: 42703 when there is none.
 */
static AttrNumber
look_up_column(Oid relid, const JsonbValue *name)
{
	char	   *column = pnstrdup(name->val.string.val, name->val.string.len);
	AttrNumber	attnum = ou_target_find_column(relid, column, NULL);

	pfree(column);
	return attnum;
}

/*
 * Find the column that the i-th member of an object names.
 */
static AttrNumber
find_column(MemberReader *reader, int i, const JsonbValue *name)
{
	MemberMemo *memo = &reader->memos[i];

	if (i < reader->nmemos && memo->len == name->val.string.len &&
		memcmp(memo->name, name->val.string.val, memo->len) == 0)
		return memo->attnum;

	if (i >= reader->nmemos)
	{
		reader->nmemos = i + 1;
		reader->memos = repalloc(reader->memos, reader->nmemos * sizeof(MemberMemo));
		memo = &reader->memos[i];
	}
	memo->name = name->val.string.val;
	memo->len = name->val.string.len;
	memo->attnum = look_up_column(reader->relid, name);
	return memo->attnum;
}

/*
 * Read the members of one object, and return the columns that they name.
 */
static Bitmapset *
read_object(MemberReader *reader, JsonColumns *columns, const JsonbValue *object)
{
	JsonbIterator *iterator;
	JsonbIteratorToken token;
	JsonbValue	value;
	Bitmapset  *named = NULL;
	AttrNumber	attnum = InvalidAttrNumber;
	int			i = 0;

	if (object->type != jbvBinary || !JsonContainerIsObject(object->val.binary.data))
		report_wrong_shape();

	iterator = JsonbIteratorInit(object->val.binary.data);
	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
		{
			attnum = find_column(reader, i++, &value);
			named = bms_add_member(named, attnum);
		}
		else if (token == WJB_VALUE && value.type == jbvNull)
			columns->null = bms_add_member(columns->null, attnum);
	}
	return named;
}

/*
 * Read which columns of the table relid the objects of a JSON batch name.
 *
 * Raises 22023 when the batch is not an array of objects or is empty, 42703
 * for a member that names no column.
 */
void
ou_json_columns_read(JsonColumns *columns, Jsonb *changes, Oid relid)
{
	MemberReader reader = {.relid = relid};
	JsonbIterator *iterator;
	JsonbIteratorToken token;
	JsonbValue	value;
	int			nobjects = 0;

	if (!JB_ROOT_IS_ARRAY(changes) || JB_ROOT_IS_SCALAR(changes))
		report_wrong_shape();
	if (JB_ROOT_COUNT(changes) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("batch must not be empty")));

	memset(columns, 0, sizeof(*columns));
	reader.memos = palloc(sizeof(MemberMemo));
	iterator = JsonbIteratorInit(&changes->root);
	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
	{
		Bitmapset  *named;

		CHECK_FOR_INTERRUPTS();
		if (token != WJB_ELEM)
			continue;
		named = read_object(&reader, columns, &value);
		columns->all = bms_add_members(columns->all, named);
		columns->common = nobjects++ == 0 ? bms_copy(named) :
			bms_int_members(columns->common, named);
		bms_free(named);
	}
}

/*
 * How the objects of a batch are to be read: all at once, which is faster, or
 * one by one, where that would take much memory.
 */
KeySource
ou_json_objects_source(const Jsonb *changes)
{
	return JB_ROOT_COUNT(changes) < MANY_OBJECTS ? SOURCE_OBJECTS : SOURCE_MANY_OBJECTS;
}

/*
 * Read how the keys of a JSON array, of values or of objects, are written, and
 * into columns which columns objects name.
 *
 * Raises 22023 for an empty array, for one that mixes both or holds arrays,
 * 22004 for a null, 42703 as ou_json_columns_read.
 */
KeySource
ou_json_keys_read(Jsonb *keys, Oid relid, Bitmapset **columns)
{
	JsonColumns named;
	JsonbIterator *iterator;
	JsonbIteratorToken token;
	JsonbValue	value;
	uint32		nscalars = 0;

	iterator = JsonbIteratorInit(&keys->root);
	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
	{
		if (token != WJB_ELEM || value.type == jbvBinary)
			continue;
		if (value.type == jbvNull)
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("batch must not contain nulls")));
		nscalars++;
	}
	*columns = NULL;
	if (nscalars > 0 && nscalars == JB_ROOT_COUNT(keys))
		return SOURCE_SCALARS;
	ou_json_columns_read(&named, keys, relid);
	*columns = named.all;
	return ou_json_objects_source(keys);
}
