"""Dispatchers in Python for replays of small worlds."""

from schedlab.simulation import Decision, PlannedStart, Start


class FirstFit:
    """A dispatcher in Python: each job in order of arrival that fits starts on the first nodes that are up."""

    name = "first-fit"

    def begin(self, platform, queues, seed):
        """Nothing to prepare."""

    def decide(self, moment):
        """Start what fits."""
        return Decision(self.starts(moment))

    def starts(self, moment):
        """Starts of the jobs that fit now."""
        free, starts = moment.free.copy(), []
        for job, may_start in zip(moment.waiting, moment.may_start, strict=True):
            then, placed = free.copy(), []
            for part in job.parts if may_start else ():
                request = [part.request.get(r, 0) for r in moment.platform.resources]
                nodes, left = {}, part.units
                for n, name in enumerate(moment.platform.nodes):
                    on = moment.ready is None or moment.ready[n] <= moment.now
                    if left and on and moment.states[n] == "up":
                        fits = min([left, *(int(f) // q for f, q in zip(then[n], request, strict=True) if q)])
                        if fits:
                            nodes[name], left = fits, left - fits
                            then[n] -= [fits * q for q in request]
                if left:
                    break
                placed.append(nodes)
            if len(placed) == len(job.parts):
                free = then
                starts.append(Start(job.id, placed[0], tuple(placed[1:])))
        return starts


class Planner(FirstFit):
    """First fit that plans the job behind, also such that the plan fails: on busy nodes, or on nodes that go down."""

    name = "planner"
    needs = frozenset({"always"})

    def begin(self, platform, queues, seed):
        """Nothing is planned."""
        self.count, self.failed = {}, []

    def decide(self, moment):
        """Start what fits, plan the next job a few seconds later on the first nodes that could hold it."""
        self.failed += moment.failed
        starts = self.starts(moment)
        started = {start.job for start in starts}
        plan = []
        for job in moment.waiting:
            n = self.count[job.id] = self.count.get(job.id, 0) + 1
            if job.id in started or job.id in moment.planned or n > 6:
                continue
            nodes, left = {}, job.units
            for name, amounts in moment.platform.capacity.items():
                by_resource = zip(moment.platform.resources, amounts, strict=True)
                fits = min([left, *(a // job.request[r] for r, a in by_resource if job.request.get(r))])
                if fits:
                    nodes[name], left = fits, left - fits
            plan.append(PlannedStart(job.id, nodes, moment.now + 1 + n % 4))
            break
        wake = moment.now + 3 if plan else None
        return Decision(starts, plan=plan or None, wake=wake)
