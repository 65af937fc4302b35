"""Features of MatrixOne, as measured on release 3.0.15. Where releases differ, the safe value.

docs/matrixone.md has the reasons. Nothing is read from the server: a check must work without one.
"""

from typing import Any

from django.db.backends.mysql import features


class DatabaseFeatures(features.DatabaseFeatures):
    minimum_database_version = (3, 0, 9)
    # ---- features that the engines use ----
    has_native_snapshots = True
    has_online_backup = False
    has_time_window = True  # PITR
    # OR over the branches of a lineage reads every row for every branch: 28 s where a union takes 60 ms.
    reads_lineage_as_union = True
    # A sort reads every selected column of every row before it takes the first few.
    sorts_whole_rows = True
    must_be_told_to_walk = False
    # From some 125 keys on, together with a condition on another index, it reads all of that index.
    keys_at_once = 100
    # A look-up by another column reads the index of rows open on the branch, which are nearly all rows.
    reads_open_rows_first = True
    # ORDER BY … LIMIT in a correlated subquery returns NULL, without an error.
    limits_correlated_subqueries = False
    keeps_statements = False
    keeps_notes = False  # another server's writes are seen by asking alone

    # ---- transactions and locks ----
    supports_transactions = True
    uses_savepoints = False  # ROLLBACK TO is refused
    autocommits_when_autocommit_is_off = True  # transactions are begun with BEGIN
    atomic_transactions = False
    can_rollback_ddl = False
    has_select_for_update_nowait = False
    has_select_for_update_skip_locked = False
    has_select_for_update_of = False

    # ---- schema ----
    # A check is skipped for a row in which another foreign key is NULL: engines check references themselves.
    supports_foreign_keys = False
    can_introspect_foreign_keys = False
    supports_column_check_constraints = False
    supports_table_check_constraints = False
    can_introspect_check_constraints = False
    supports_expression_indexes = False
    supports_index_column_ordering = False
    can_rename_index = False
    supports_comments = False
    supports_comments_inline = False
    supports_stored_generated_columns = False
    supports_virtual_generated_columns = False
    supports_expression_defaults = False
    has_native_uuid_field = False
    ignores_table_name_case = True

    # ---- rows ----
    allows_auto_pk_0 = False
    update_can_self_select = False
    can_return_columns_from_insert = False
    can_return_rows_from_bulk_insert = False
    supports_update_conflicts = False  # an upsert works on the primary key only

    # ---- queries ----
    allows_group_by_selected_pks = False
    requires_explicit_null_ordering_when_grouping = False
    supports_json_field_contains = False
    has_zoneinfo_database = True
    is_sql_auto_is_null_enabled = False
    supports_default_in_lead_lag = True
    supports_select_intersection = True
    supports_select_difference = True
    supports_explain_analyze = True
    supported_explain_formats: set[str] = set()
    _mysql_storage_engine = "Tae"
    django_test_skips: dict[str, Any] = {}
