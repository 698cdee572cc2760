package main

import (
	"context"
	"fmt"

	"github.com/sandloop/sandloop/internal/admin"
)

// checks are what a worker needs to take jobs and to run them. ctx is the worker's.
func (p *parts) checks(ctx context.Context, o *operations) []admin.Check {
	return []admin.Check{
		{Name: "worker", Look: func(context.Context) error {
			worker := o.worker.Load()
			switch {
			case ctx.Err() != nil:
				return admin.Reason("stops: it takes no more jobs")
			case worker == nil || !worker.Serving():
				return admin.Reason("is not up yet")
			case worker.Paused():
				return admin.Reason("takes no jobs: no program can be run here")
			}
			return nil
		}},
		{Name: "redis", Look: func(ctx context.Context) error { return p.queue.Ping(ctx).Err() }},
		{Name: "docker", Look: func(ctx context.Context) error {
			_, err := p.daemon.client.Ping(ctx)
			return err
		}},
		{Name: "images", Look: p.anyImage},
	}
}

// anyImage makes sure that at least one language can run, as at the start.
func (p *parts) anyImage(ctx context.Context) error {
	present, _, err := imagesPresent(ctx, p.daemon.client, p.options.Languages)
	if err == nil && len(present) == 0 {
		return admin.Reason(fmt.Sprintf("none of the %d images is on the Docker host", len(languagesByImage(p.options.Languages))))
	}
	return err
}
