package jobs

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTurnsInEveryTopologyOfRedis(t *testing.T) {
	t.Parallel()
	for name, setup := range map[string]func(*testing.T) *bundle{"cluster": setupCluster, "sentinel": setupSentinel} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.setQuota("alice", Quota{Concurrency: 1, MaxQueued: 3, MaxQueuedBytes: 1 << 20})
			for _, queue := range Queues() {
				require.NoError(t, b.client.SetDepth(b.ctx, queue, Depth{MaxQueued: 5}))
				var ids []string
				for i := range 5 {
					j := of([]string{"alice", "bob"}[i%2], fmt.Sprint(i))
					j.Queue = queue
					ids = append(ids, b.submit(j))
				}
				for _, tenant := range []string{"alice", "carol"} {
					j := of(tenant, "refused")
					j.Queue = queue
					require.Equal(t, tenant == "carol", b.refused(j).WholeQueue)
				}
				require.Equal(t, ids[0]+":1", b.takeAt(queue, time.Now()))
				ghost, _ := b.ghost(ids[0])
				require.NoError(t, ghost.recoverJob(b.ctx, ids[0]+":1", "ghost"))
				_, err := b.client.Cancel(b.ctx, ids[2])
				require.NoError(t, err)
				require.EqualValues(t, 4, b.consistent(queue))
				stats, err := b.client.Tenants(b.ctx, queue)
				require.NoError(t, err)
				require.Len(t, stats, 2)
			}
			runner := newFakeRunner()
			w := b.start(runner, func(o *WorkerOptions) { o.Concurrency = 20 })
			for range 4 * len(Queues()) {
				receive(t, runner.runs).succeed("")
			}
			eventually(t, func() bool { return w.Counters().Finished.Load() == 12 }, "all are done")
			require.NoError(t, b.client.RemoveQuota(b.ctx, "alice"))
		})
	}
}
