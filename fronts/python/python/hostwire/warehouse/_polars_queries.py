"""The queries of TPC-H for Polars, whose SQL has no correlated subqueries: as expressions over lazy
frames `t`, with the values of the validation run. queries/*.sql says what each computes."""

from datetime import date

import polars as pl

_col, _lit = pl.col, pl.lit


def _price():
    return (_col("l_extendedprice") * (1 - _col("l_discount"))).alias("revenue")


def _nation_of(frames, nation, region=None):
    """The nations with a name, or all of a region."""
    nations = frames["nation"]
    if nation is not None:
        return nations.filter(_col("n_name") == nation)
    regions = frames["region"].filter(_col("r_name") == region)
    return nations.join(regions, left_on="n_regionkey", right_on="r_regionkey")


def _q1(t, _):
    price = _col("l_extendedprice") * (1 - _col("l_discount"))
    return (
        t["lineitem"]
        .filter(_col("l_shipdate") <= date(1998, 9, 2))
        .group_by("l_returnflag", "l_linestatus")
        .agg(
            sum_qty=_col("l_quantity").sum(),
            sum_base_price=_col("l_extendedprice").sum(),
            sum_disc_price=price.sum(),
            sum_charge=(price * (1 + _col("l_tax"))).sum(),
            avg_qty=_col("l_quantity").mean(),
            avg_price=_col("l_extendedprice").mean(),
            avg_disc=_col("l_discount").mean(),
            count_order=pl.len(),
        )
        .sort("l_returnflag", "l_linestatus")
    )


def _q2(t, _):
    joined = (
        t["part"]
        .filter((_col("p_size") == 15) & _col("p_type").str.ends_with("BRASS"))
        .join(t["partsupp"], left_on="p_partkey", right_on="ps_partkey")
        .join(t["supplier"], left_on="ps_suppkey", right_on="s_suppkey")
        .join(_nation_of(t, None, "EUROPE"), left_on="s_nationkey", right_on="n_nationkey")
    )
    least = joined.group_by("p_partkey").agg(_col("ps_supplycost").min())
    return (
        joined.join(least, on=["p_partkey", "ps_supplycost"])
        .select(
            "s_acctbal", "s_name", "n_name", "p_partkey", "p_mfgr", "s_address", "s_phone", "s_comment"
        )
        .sort("s_acctbal", "n_name", "s_name", "p_partkey", descending=[True, False, False, False])
        .head(100)
    )


def _q3(t, _):
    day = date(1995, 3, 15)
    return (
        t["customer"]
        .filter(_col("c_mktsegment") == "BUILDING")
        .join(t["orders"].filter(_col("o_orderdate") < day), left_on="c_custkey", right_on="o_custkey")
        .join(
            t["lineitem"].filter(_col("l_shipdate") > day),
            left_on="o_orderkey",
            right_on="l_orderkey",
        )
        .group_by("o_orderkey", "o_orderdate", "o_shippriority")
        .agg(_price().sum())
        .select(_col("o_orderkey").alias("l_orderkey"), "revenue", "o_orderdate", "o_shippriority")
        .sort("revenue", "o_orderdate", descending=[True, False])
        .head(10)
    )


def _q4(t, _):
    late = t["lineitem"].filter(_col("l_commitdate") < _col("l_receiptdate"))
    return (
        t["orders"]
        .filter(_col("o_orderdate").is_between(date(1993, 7, 1), date(1993, 9, 30)))
        .join(late, left_on="o_orderkey", right_on="l_orderkey", how="semi")
        .group_by("o_orderpriority")
        .agg(order_count=pl.len())
        .sort("o_orderpriority")
    )


def _q5(t, _):
    orders = t["orders"].filter(_col("o_orderdate").is_between(date(1994, 1, 1), date(1994, 12, 31)))
    return (
        _nation_of(t, None, "ASIA")
        .join(t["customer"], left_on="n_nationkey", right_on="c_nationkey")
        .join(orders, left_on="c_custkey", right_on="o_custkey")
        .join(t["lineitem"], left_on="o_orderkey", right_on="l_orderkey")
        .join(
            t["supplier"],
            left_on=["l_suppkey", "n_nationkey"],
            right_on=["s_suppkey", "s_nationkey"],
        )
        .group_by("n_name")
        .agg(_price().sum())
        .sort("revenue", descending=True)
    )


def _q6(t, _):
    cents = pl.Decimal(15, 2)
    return (
        t["lineitem"]
        .filter(_col("l_shipdate").is_between(date(1994, 1, 1), date(1994, 12, 31)))
        .filter(_col("l_discount").is_between(_lit("0.05").cast(cents), _lit("0.07").cast(cents)))
        .filter(_col("l_quantity") < 24)
        .select(revenue=(_col("l_extendedprice") * _col("l_discount")).sum())
    )


def _q7(t, _):
    def of(place):
        names = t["nation"].filter(_col("n_name").is_in(["FRANCE", "GERMANY"]))
        return names.select(_col("n_nationkey"), _col("n_name").alias(place))

    return (
        t["lineitem"]
        .filter(_col("l_shipdate").is_between(date(1995, 1, 1), date(1996, 12, 31)))
        .join(t["supplier"], left_on="l_suppkey", right_on="s_suppkey")
        .join(of("supp_nation"), left_on="s_nationkey", right_on="n_nationkey")
        .join(t["orders"], left_on="l_orderkey", right_on="o_orderkey")
        .join(t["customer"], left_on="o_custkey", right_on="c_custkey")
        .join(of("cust_nation"), left_on="c_nationkey", right_on="n_nationkey")
        .filter(_col("supp_nation") != _col("cust_nation"))
        .with_columns(l_year=_col("l_shipdate").dt.year())
        .group_by("supp_nation", "cust_nation", "l_year")
        .agg(_price().sum())
        .sort("supp_nation", "cust_nation", "l_year")
    )


def _q8(t, _):
    suppliers = t["supplier"].join(
        t["nation"].select("n_nationkey", nation="n_name"),
        left_on="s_nationkey",
        right_on="n_nationkey",
    )
    orders = t["orders"].filter(_col("o_orderdate").is_between(date(1995, 1, 1), date(1996, 12, 31)))
    is_brazil = _col("nation") == "BRAZIL"
    none = _lit(0).cast(pl.Decimal(38, 4))
    return (
        t["part"]
        .filter(_col("p_type") == "ECONOMY ANODIZED STEEL")
        .join(t["lineitem"], left_on="p_partkey", right_on="l_partkey")
        .join(suppliers, left_on="l_suppkey", right_on="s_suppkey")
        .join(orders, left_on="l_orderkey", right_on="o_orderkey")
        .join(t["customer"], left_on="o_custkey", right_on="c_custkey")
        .join(_nation_of(t, None, "AMERICA"), left_on="c_nationkey", right_on="n_nationkey")
        .with_columns(_price(), o_year=_col("o_orderdate").dt.year())
        .with_columns(brazil=pl.when(is_brazil).then(_col("revenue")).otherwise(none))
        .group_by("o_year")
        .agg(_col("brazil").sum(), _col("revenue").sum())
        .select("o_year", mkt_share=_col("brazil").cast(pl.Float64) / _col("revenue").cast(pl.Float64))
        .sort("o_year")
    )


def _q9(t, _):
    amount = _col("l_extendedprice") * (1 - _col("l_discount"))
    amount = amount - _col("ps_supplycost") * _col("l_quantity")
    return (
        t["part"]
        .filter(_col("p_name").str.contains("green", literal=True))
        .join(t["lineitem"], left_on="p_partkey", right_on="l_partkey")
        .join(
            t["partsupp"],
            left_on=["p_partkey", "l_suppkey"],
            right_on=["ps_partkey", "ps_suppkey"],
        )
        .join(t["supplier"], left_on="l_suppkey", right_on="s_suppkey")
        .join(t["nation"], left_on="s_nationkey", right_on="n_nationkey")
        .join(t["orders"], left_on="l_orderkey", right_on="o_orderkey")
        .select(nation="n_name", o_year=_col("o_orderdate").dt.year(), sum_profit=amount)
        .group_by("nation", "o_year")
        .agg(_col("sum_profit").sum())
        .sort("nation", "o_year", descending=[False, True])
    )


def _q10(t, _):
    keys = ["c_custkey", "c_name", "c_acctbal", "c_phone", "n_name", "c_address", "c_comment"]
    orders = t["orders"].filter(_col("o_orderdate").is_between(date(1993, 10, 1), date(1993, 12, 31)))
    return (
        t["customer"]
        .join(orders, left_on="c_custkey", right_on="o_custkey")
        .join(
            t["lineitem"].filter(_col("l_returnflag") == "R"),
            left_on="o_orderkey",
            right_on="l_orderkey",
        )
        .join(t["nation"], left_on="c_nationkey", right_on="n_nationkey")
        .group_by(keys)
        .agg(_price().sum())
        .select(
            "c_custkey",
            "c_name",
            "revenue",
            "c_acctbal",
            "n_name",
            "c_address",
            "c_phone",
            "c_comment",
        )
        .sort("revenue", descending=True)
        .head(20)
    )


def _q11(t, scale):
    value = (_col("ps_supplycost") * _col("ps_availqty")).sum().alias("value")
    joined = (
        t["partsupp"]
        .join(t["supplier"], left_on="ps_suppkey", right_on="s_suppkey")
        .join(_nation_of(t, "GERMANY"), left_on="s_nationkey", right_on="n_nationkey")
    )
    total = joined.select(value.alias("total"))
    share = 0.0001 / scale
    return (
        joined.group_by("ps_partkey")
        .agg(value)
        .join(total, how="cross")
        .filter(_col("value").cast(pl.Float64) > _col("total").cast(pl.Float64) * share)
        .select("ps_partkey", "value")
        .sort("value", descending=True)
    )


def _q12(t, _):
    is_high = _col("o_orderpriority").is_in(["1-URGENT", "2-HIGH"])
    return (
        t["lineitem"]
        .filter(_col("l_shipmode").is_in(["MAIL", "SHIP"]))
        .filter(_col("l_commitdate") < _col("l_receiptdate"))
        .filter(_col("l_shipdate") < _col("l_commitdate"))
        .filter(_col("l_receiptdate").is_between(date(1994, 1, 1), date(1994, 12, 31)))
        .join(t["orders"], left_on="l_orderkey", right_on="o_orderkey")
        .group_by("l_shipmode")
        .agg(high_line_count=is_high.sum(), low_line_count=is_high.not_().sum())
        .sort("l_shipmode")
    )


def _q13(t, _):
    orders = t["orders"].filter(_col("o_comment").str.contains("special.*requests").not_())
    return (
        t["customer"]
        .join(orders, left_on="c_custkey", right_on="o_custkey", how="left")
        .group_by("c_custkey")
        .agg(c_count=_col("o_orderkey").count())
        .group_by("c_count")
        .agg(custdist=pl.len())
        .sort("custdist", "c_count", descending=True)
    )


def _q14(t, _):
    none = _lit(0).cast(pl.Decimal(38, 4))
    promo = pl.when(_col("p_type").str.starts_with("PROMO")).then(_col("revenue")).otherwise(none)
    return (
        t["lineitem"]
        .filter(_col("l_shipdate").is_between(date(1995, 9, 1), date(1995, 9, 30)))
        .join(t["part"], left_on="l_partkey", right_on="p_partkey")
        .with_columns(_price())
        .select(promo=promo.sum().cast(pl.Float64), all=_col("revenue").sum().cast(pl.Float64))
        .select(promo_revenue=100.0 * _col("promo") / _col("all"))
    )


def _q15(t, _):
    revenue = (
        t["lineitem"]
        .filter(_col("l_shipdate").is_between(date(1996, 1, 1), date(1996, 3, 31)))
        .group_by("l_suppkey")
        .agg(total_revenue=_price().sum())
    )
    most = revenue.select(_col("total_revenue").max())
    return (
        t["supplier"]
        .join(revenue.join(most, on="total_revenue"), left_on="s_suppkey", right_on="l_suppkey")
        .select("s_suppkey", "s_name", "s_address", "s_phone", "total_revenue")
        .sort("s_suppkey")
    )


def _q16(t, _):
    keys = ["p_brand", "p_type", "p_size"]
    complaints = t["supplier"].filter(_col("s_comment").str.contains("Customer.*Complaints"))
    return (
        t["part"]
        .filter(_col("p_brand") != "Brand#45")
        .filter(_col("p_type").str.starts_with("MEDIUM POLISHED").not_())
        .filter(_col("p_size").is_in([49, 14, 23, 45, 19, 3, 36, 9]))
        .join(t["partsupp"], left_on="p_partkey", right_on="ps_partkey")
        .join(complaints, left_on="ps_suppkey", right_on="s_suppkey", how="anti")
        .group_by(keys)
        .agg(supplier_cnt=_col("ps_suppkey").n_unique())
        .sort("supplier_cnt", *keys, descending=[True, False, False, False])
    )


def _q17(t, _):
    parts = t["part"].filter((_col("p_brand") == "Brand#23") & (_col("p_container") == "MED BOX"))
    lines = t["lineitem"].join(parts, left_on="l_partkey", right_on="p_partkey")
    quantity = _col("l_quantity").cast(pl.Float64)
    means = lines.group_by("l_partkey").agg(limit=0.2 * quantity.mean())
    return (
        lines.join(means, on="l_partkey")
        .filter(quantity < _col("limit"))
        # As in SQL, the sum of nothing is null.
        .select(price=_col("l_extendedprice").sum().cast(pl.Float64), rows=pl.len())
        .select(avg_yearly=pl.when(_col("rows") > 0).then(_col("price") / 7.0))
    )


def _q18(t, _):
    large = (
        t["lineitem"]
        .group_by("l_orderkey")
        .agg(quantity=_col("l_quantity").sum())
        .filter(_col("quantity") > 300)
    )
    return (
        t["orders"]
        .join(large, left_on="o_orderkey", right_on="l_orderkey")
        .join(t["customer"], left_on="o_custkey", right_on="c_custkey")
        .select(
            "c_name",
            _col("o_custkey").alias("c_custkey"),
            "o_orderkey",
            "o_orderdate",
            "o_totalprice",
            "quantity",
        )
        .sort("o_totalprice", "o_orderdate", descending=[True, False])
        .head(100)
    )


def _q19(t, _):
    def of(brand, size, kinds, least, greatest):
        containers = [f"{size} {kind}" for kind in kinds.split()]
        quantities = _col("l_quantity").is_between(least, least + 10)
        is_it = (_col("p_brand") == brand) & _col("p_container").is_in(containers)
        return is_it & quantities & _col("p_size").is_between(1, greatest)

    return (
        t["lineitem"]
        .filter(_col("l_shipmode").is_in(["AIR", "AIR REG"]))
        .filter(_col("l_shipinstruct") == "DELIVER IN PERSON")
        .join(t["part"], left_on="l_partkey", right_on="p_partkey")
        .filter(
            of("Brand#12", "SM", "CASE BOX PACK PKG", 1, 5)
            | of("Brand#23", "MED", "BAG BOX PKG PACK", 10, 10)
            | of("Brand#34", "LG", "CASE BOX PACK PKG", 20, 15)
        )
        .select(_price().sum())
    )


def _q20(t, _):
    sold = (
        t["lineitem"]
        .filter(_col("l_shipdate").is_between(date(1994, 1, 1), date(1994, 12, 31)))
        .group_by("l_partkey", "l_suppkey")
        .agg(half=0.5 * _col("l_quantity").sum().cast(pl.Float64))
    )
    forest = t["part"].filter(_col("p_name").str.starts_with("forest"))
    have = (
        t["partsupp"]
        .join(forest, left_on="ps_partkey", right_on="p_partkey", how="semi")
        .join(sold, left_on=["ps_partkey", "ps_suppkey"], right_on=["l_partkey", "l_suppkey"])
        .filter(_col("ps_availqty") > _col("half"))
    )
    return (
        t["supplier"]
        .join(_nation_of(t, "CANADA"), left_on="s_nationkey", right_on="n_nationkey")
        .join(have, left_on="s_suppkey", right_on="ps_suppkey", how="semi")
        .select("s_name", "s_address")
        .sort("s_name")
    )


def _q21(t, _):
    lines = t["lineitem"].select("l_orderkey", "l_suppkey", "l_commitdate", "l_receiptdate")
    is_late = _col("l_receiptdate") > _col("l_commitdate")
    several = (
        lines.group_by("l_orderkey")
        .agg(suppliers=_col("l_suppkey").n_unique())
        .filter(_col("suppliers") > 1)
    )
    late = lines.filter(is_late)
    one_is_late = (
        late.group_by("l_orderkey")
        .agg(late_suppliers=_col("l_suppkey").n_unique())
        .filter(_col("late_suppliers") == 1)
    )
    return (
        late.join(one_is_late, on="l_orderkey", how="semi")
        .join(several, on="l_orderkey", how="semi")
        .join(t["supplier"], left_on="l_suppkey", right_on="s_suppkey")
        .join(_nation_of(t, "SAUDI ARABIA"), left_on="s_nationkey", right_on="n_nationkey")
        .join(
            t["orders"].filter(_col("o_orderstatus") == "F"),
            left_on="l_orderkey",
            right_on="o_orderkey",
            how="semi",
        )
        .group_by("s_name")
        .agg(numwait=pl.len())
        .sort("numwait", "s_name", descending=[True, False])
        .head(100)
    )


def _q22(t, _):
    codes = ["13", "31", "23", "29", "30", "18", "17"]
    customers = (
        t["customer"]
        .with_columns(cntrycode=_col("c_phone").str.slice(0, 2))
        .filter(_col("cntrycode").is_in(codes))
    )
    balance = _col("c_acctbal").cast(pl.Float64)
    mean = customers.filter(_col("c_acctbal") > 0).select(mean=balance.mean())
    return (
        customers.join(t["orders"], left_on="c_custkey", right_on="o_custkey", how="anti")
        .join(mean, how="cross")
        .filter(balance > _col("mean"))
        .group_by("cntrycode")
        .agg(numcust=pl.len(), totacctbal=_col("c_acctbal").sum())
        .sort("cntrycode")
    )


def query(name, scale):
    """The query `name` (`q1` to `q22`) as a function of the tables as lazy frames, by name."""
    build = globals()[f"_{name}"]
    return lambda frames: build(frames, scale)
