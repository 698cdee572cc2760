package jobs

// DefaultPrefix starts every key of ours unless the operator says otherwise.
const DefaultPrefix = "sandloop"

// taskType is the type of the asynq task that stands for one dispatch of a job.
const taskType = "sandloop:run"

// keys names what is ours in Redis. The keys of one job share the hash tag {id}, so that a
// script can touch all of them in a Redis Cluster.
type keys struct{ prefix string }

func (k keys) body(id string) string   { return k.prefix + ":{" + id + "}:job" }
func (k keys) state(id string) string  { return k.prefix + ":{" + id + "}:state" }
func (k keys) result(id string) string { return k.prefix + ":{" + id + "}:result" }
func (k keys) output(id string) string { return k.prefix + ":{" + id + "}:out" }

// job lists the keys in the order in which every script of this package expects them.
func (k keys) job(id string) []string { return []string{k.state(id), k.body(id), k.result(id)} }

func (k keys) blob(id string) string { return k.prefix + ":blob:{" + id + "}" }

// blobPart is a blob that is on its way in, in the blob's own slot.
func (k keys) blobPart(id, token string) string { return k.blob(id) + ":" + token }

func (k keys) workers() string              { return k.prefix + ":workers" }
func (k keys) worker(id string) string      { return k.prefix + ":worker:" + id }
func (k keys) running(worker string) string { return k.prefix + ":running:" + worker }
func (k keys) dead(queue Queue) string      { return k.prefix + ":dead:" + string(queue) }
func (k keys) installation() string         { return k.prefix + ":installation" }
func (k keys) reaped(host string) string    { return k.prefix + ":reaped:" + host }

// batch lists the keys of a batch, which share its hash tag: the set of its jobs and the mark of a canceled one.
func (k keys) batch(name string) []string {
	return []string{k.prefix + ":batch:{" + name + "}:jobs", k.batchCanceled(name)}
}

func (k keys) batchCanceled(name string) string { return k.prefix + ":batch:{" + name + "}:canceled" }

// The pub/sub channels.
func (k keys) doneChannel(id string) string       { return k.prefix + ":done:" + id }
func (k keys) wakeChannel(queue Queue) string     { return k.prefix + ":wake:" + string(queue) }
func (k keys) wakeWorker(worker string) string    { return k.prefix + ":wake:worker:" + worker }
func (k keys) cancelChannel(worker string) string { return k.prefix + ":cancel:" + worker }

// asynqQueue is the name of a queue within asynq. It has the prefix because two
// installations, or another program that uses asynq, may share the Redis.
func (k keys) asynqQueue(queue Queue) string { return k.prefix + ":" + string(queue) }

// hostQueue is the asynq queue of one Docker host's own chores.
func (k keys) hostQueue(host string) string { return k.prefix + ":host:" + host }

// workerQueue is the asynq queue that one worker alone serves.
func (k keys) workerQueue(worker string) string { return k.prefix + ":worker:" + worker }

// turns is what the keys of ours start with that lie in the slot of asynq's keys of a queue.
func (k keys) turns(queue Queue) string { return k.prefix + ":{" + k.asynqQueue(queue) + "}:" }

// asynqKey is a key of asynq's own, such as asynq:{queue}:pending.
func asynqKey(asynqQueue, kind string) string { return "asynq:{" + asynqQueue + "}:" + kind }
