// Package deps pins modules until the packages that use them exist.
package deps

import (
	_ "github.com/alicebob/miniredis/v2"
	_ "github.com/containerd/errdefs"
	_ "github.com/docker/docker/client"
	_ "github.com/docker/docker/pkg/stdcopy"
	_ "github.com/docker/go-units"
	_ "github.com/go-viper/mapstructure/v2"
	_ "github.com/hibiken/asynq"
	_ "github.com/klauspost/compress/zstd"
	_ "github.com/oklog/ulid/v2"
	_ "github.com/redis/go-redis/v9"
	_ "github.com/spf13/cobra"
	_ "github.com/spf13/viper"
	_ "github.com/stretchr/testify/require"
	_ "go.uber.org/goleak"
	_ "go.yaml.in/yaml/v3"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
)
