package jobs

import "context"

const workerProcessEnv = "JOBS_TEST_WORKER"

func workerProcess(addr string) { _ = addr; _ = context.Background() }
