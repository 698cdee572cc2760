package reaper

import (
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

func TestTheLabelsOfAContainerDecide(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	r, err := New(nil, Options{Installation: "mine", Self: "me", Grace: 10 * time.Second, Alive: onlyLiveOne})
	require.NoError(t, err)
	for name, test := range map[string]struct {
		change map[string]string
		age    time.Duration
		state  container.ContainerState
		want   fate
	}{
		"an owner must be asked about":            {nil, time.Minute, "running", ask},
		"a container of a fill too":               {map[string]string{labels.Role: labels.RoleInitVolume}, time.Minute, "created", ask},
		"older than anything":                     {nil, 20 * 365 * 24 * time.Hour, "running", ask},
		"young":                                   {nil, 9 * time.Second, "exited", keep},
		"just old enough":                         {nil, 10 * time.Second, "exited", ask},
		"made in the future by a clock that errs": {nil, -time.Hour, "created", keep},
		"my own":                         {map[string]string{labels.Owner: "me"}, time.Minute, "exited", keep},
		"my own past its expiry":         {map[string]string{labels.Owner: "me", labels.Expires: "999000"}, time.Hour, "exited", expired},
		"my own runs past its expiry":    {map[string]string{labels.Owner: "me", labels.Expires: "1"}, time.Hour, "running", keep},
		"expired within the margin":      {map[string]string{labels.Expires: "999940"}, time.Hour, "exited", ask},
		"expired past the margin":        {map[string]string{labels.Expires: "999939"}, time.Hour, "exited", expired},
		"expired and never started":      {map[string]string{labels.Expires: "1"}, time.Hour, "created", expired},
		"expired and removed in part":    {map[string]string{labels.Expires: "1"}, time.Hour, "dead", expired},
		"expired and running":            {map[string]string{labels.Expires: "1"}, time.Hour, "running", ask},
		"expired and paused":             {map[string]string{labels.Expires: "1"}, time.Hour, "paused", ask},
		"expired and restarting":         {map[string]string{labels.Expires: "1"}, time.Hour, "restarting", ask},
		"expired in an unheard-of state": {map[string]string{labels.Expires: "1"}, time.Hour, "thawing", ask},
		"expired before it is old":       {map[string]string{labels.Expires: "1"}, 9 * time.Second, "exited", keep},
		"an expiry a thousand years off": {map[string]string{labels.Expires: "33000000000"}, time.Hour, "exited", ask},
		"another installation":           {map[string]string{labels.Installation: "theirs"}, time.Hour, "exited", keep},
		"a name that starts with mine":   {map[string]string{labels.Installation: "mine2", labels.Expires: "1"}, time.Hour, "exited", keep},
		"mine in capitals":               {map[string]string{labels.Installation: "MINE", labels.Expires: "1"}, time.Hour, "exited", keep},
		"mine with a space":              {map[string]string{labels.Installation: "mine ", labels.Expires: "1"}, time.Hour, "exited", keep},
		"no installation":                {map[string]string{labels.Installation: ""}, time.Hour, "exited", keep},
		"an unknown role":                {map[string]string{labels.Role: "cache", labels.Expires: "1"}, time.Hour, "exited", unreadable},
		"no role":                        {map[string]string{labels.Role: ""}, time.Hour, "exited", unreadable},
		"an expiry that is no number":    {map[string]string{labels.Expires: "2026-01-01"}, time.Hour, "exited", unreadable},
		"an expiry with a fraction":      {map[string]string{labels.Expires: "1.5"}, time.Hour, "exited", unreadable},
		"an expiry with a space":         {map[string]string{labels.Expires: " 1"}, time.Hour, "exited", unreadable},
		"an expiry of 0":                 {map[string]string{labels.Expires: "0"}, time.Hour, "exited", unreadable},
		"a negative expiry":              {map[string]string{labels.Expires: "-5"}, time.Hour, "exited", unreadable},
		"an expiry too large to read":    {map[string]string{labels.Expires: "99999999999999999999"}, time.Hour, "exited", unreadable},
		"no owner, not even if expired":  {map[string]string{labels.Owner: "", labels.Expires: "1"}, time.Hour, "exited", unreadable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := (&bench{installation: "mine"}).of("someone", test.change)
			if _, changed := test.change[labels.Expires]; !changed {
				set[labels.Expires] = "1003600"
			}
			got, why := r.judge(container.Summary{Labels: set, Created: now.Add(-test.age).Unix(), State: test.state}, now)
			require.Equal(t, test.want, got)
			require.Equal(t, test.want == unreadable, why != "")
			got, _ = r.judge(container.Summary{Labels: set, Created: now.Add(-test.age).Unix(), State: container.StateRemoving}, now)
			require.Equal(t, keep, got, "what is being removed needs nobody else")
		})
	}
}

func TestOptionsThatWouldReapEverything(t *testing.T) {
	t.Parallel()
	_, err := New(nil, Options{Alive: onlyLiveOne})
	require.ErrorContains(t, err, "Installation")
	_, err = New(nil, Options{Installation: "x"})
	require.ErrorContains(t, err, "Alive")
}
