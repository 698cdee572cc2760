package testenv

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
)

// slots is the number of hash slots of a Redis Cluster.
const slots = 16384

// RedisCluster is a Redis Cluster of a test's own.
type RedisCluster struct {
	// Nodes are the servers, the first masters first.
	Nodes []*Redis
}

// StartRedisCluster starts masters, which share the slots evenly, each with so many replicas, and returns
// once every node knows all others and every replica has its master's data. A master that does not answer for
// 3 s is replaced by its replica. The arguments are for each server.
func StartRedisCluster(t testing.TB, masters, replicas int, args ...string) *RedisCluster {
	t.Helper()
	args = append([]string{"--cluster-enabled", "yes", "--cluster-node-timeout", "3000", "--repl-diskless-sync-delay", "0"}, args...)
	c := &RedisCluster{}
	for range masters * (1 + replicas) {
		c.Nodes = append(c.Nodes, startRedis(t, freeBusPort, args))
	}
	host, port, err := net.SplitHostPort(c.Nodes[0].Addr)
	if err != nil {
		t.Fatal(err)
	}
	for i, node := range c.Nodes {
		node.must(t, "CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
		if i < masters {
			node.must(t, "CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(slots*i/masters), strconv.Itoa(slots*(i+1)/masters-1))
		}
		if i > 0 {
			node.must(t, "CLUSTER", "MEET", host, port)
		}
	}
	for i, node := range c.Nodes[masters:] {
		id := c.Nodes[i%masters].must(t, "CLUSTER", "MYID")
		waitFor(t, "replicate "+id, func() error { // it must have heard of its master first
			_, err := ask(node.Addr, "CLUSTER", "REPLICATE", id)
			return err
		})
	}
	for _, node := range c.Nodes {
		waitFor(t, "cluster at "+node.Addr, func() error { return node.inCluster(len(c.Nodes), masters*replicas) })
	}
	return c
}

// Addrs are the addresses of all nodes with commas between them.
func (c *RedisCluster) Addrs() string {
	addrs := make([]string, len(c.Nodes))
	for i, node := range c.Nodes {
		addrs[i] = node.Addr
	}
	return strings.Join(addrs, ",")
}

// Node returns the node with an address, which must be one of the cluster's.
func (c *RedisCluster) Node(t testing.TB, addr string) *Redis {
	t.Helper()
	for _, node := range c.Nodes {
		if node.Addr == addr {
			return node
		}
	}
	t.Fatalf("no node of the cluster is at %s: want one of %s", addr, c.Addrs())
	return nil
}

// inCluster says what is missing for a server to be a node of a whole cluster.
func (r *Redis) inCluster(nodes, replicas int) error {
	info, err := ask(r.Addr, "CLUSTER", "INFO")
	if err != nil {
		return err
	}
	known, err := ask(r.Addr, "CLUSTER", "NODES")
	if err != nil {
		return err
	}
	link, err := ask(r.Addr, "INFO", "replication")
	if err != nil {
		return err
	}
	switch {
	case !strings.Contains(info, "cluster_state:ok") || strings.Contains(known, "handshake"):
		return fmt.Errorf("it is not up:\n%s%s", info, known)
	case strings.Count(known, "\n") != nodes || strings.Count(known, "slave ") != replicas:
		return fmt.Errorf("it does not know all nodes:\n%s", known)
	case strings.Contains(link, "role:slave") && !strings.Contains(link, "master_link_status:up"):
		return errors.New("it has not its master's data yet")
	}
	return nil
}

// must asks a server what it does not refuse.
func (r *Redis) must(t testing.TB, command ...string) string {
	t.Helper()
	reply, err := ask(r.Addr, command...)
	if err != nil {
		t.Fatalf("%s at %s: %v", strings.Join(command, " "), r.Addr, err)
	}
	return reply
}

// freeBusPort finds a port for a node of a cluster, whose bus listens 10,000 above it.
func freeBusPort() (int, error) {
	for range 100 {
		port, err := freePort()
		if err != nil || port+10_000 <= 65_535 {
			return port, err
		}
	}
	return 0, errors.New("no free port of 100 leaves room for the cluster's bus")
}
