r"""A desired profile of use in a dispatching problem: as a limit on each node (hard), or with a cost (soft).

Let ``u[n,r](t)`` be the use of resource r on node n at time t by the jobs of the problem, ``b[n,r](t)`` that by the running
jobs, and ``dp[n,r](t)`` the desired amount of a node.

Hard (``Dispatch(desired=profile)``) [Bridi2018, 5.1]: for each node n, resource r and time t at which a job of the problem
uses r on n::

    u[n,r](t) + b[n,r](t) <= max(floor(dp[n,r](t)), b[n,r](t))

The maximum is there because running jobs are not stopped: where they alone use more than is desired, no job of the problem
may run beside them. Formulations take it as a cumulative with the stepwise capacity ``max(dp, b)``: ``counts`` and ``units``
per node; the relaxations ``classes`` and ``pool`` per class and for the machine, with the sum over the nodes. The power of the
machine, if it is desired, is limited in the same way, with watts in thousandths: one more cumulative of every formulation.

Soft (``Dispatch(desired=profile, over_cost=w)``): w times the over-utilisation of the machine is added to the objective (or
subtracted, if it is maximized). For each resource with a wish let ``U[r](t)`` be the use of the whole machine, running jobs
included, and ``G[r](t) = sum_n dp[n,r](t)``, in thousandths, rounded down::

    over = sum_r integral from now on of max(0, U[r](t) - G[r](t)) dt        in amount-hours, such as core-hours

It depends on the starts alone, so that all formulations, relaxations too, and all searches take it. In models the time in
which more than desired can be in use is divided into cells, within which ``G - b`` is constant. With the overlap
``o[j,c]`` of the run of job j with cell c, in seconds, and its total request ``a[j,r]``::

    over >= sum_{r,c} max(0, sum_j a[j,r] o[j,c] - integral over c of (G[r] - b[r]))

because the integral of a maximum is at least the maximum of the integrals. If cells are 1 s long, both sides are equal: the
use is constant in each second. ``OVERLAPS`` limits the number of overlaps of a model, so that large problems have longer cells,
the first ones the shortest; then the objective of the model is a lower bound of that of its schedule. Bounds are always valid, and the objective of
each schedule is computed from the data.
"""
