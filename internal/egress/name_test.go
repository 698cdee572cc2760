package egress

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestANameHasOneForm(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"pypi.org": "pypi.org", "PyPI.Org": "pypi.org", "pypi.org.": "pypi.org", "_dmarc.example.org": "_dmarc.example.org",
		"BÜCHER.example": "xn--bcher-kva.example", "bücher。example": "xn--bcher-kva.example", "ｐｙｐｉ．ｏｒｇ": "pypi.org",
		"r3---sn-4g5e.example": "r3---sn-4g5e.example", "localhost": "localhost", "1.example": "1.example", "0x7f.example": "0x7f.example",
	} {
		got, err := Normalize(given)
		require.NoError(t, err, given)
		require.Equal(t, want, got, given)
	}
}

func TestWhatIsNoNameIsRefused(t *testing.T) {
	t.Parallel()
	for _, given := range []string{
		"", ".", "..", "a..b", ".a", "a.-b", "-a", "a-", "a b", "a/b", "a@b", "a%2eb", "a\x00b", "a\r\nb", "a:80", "*", "*.a", strings.Repeat("a", 64) + ".org",
		strings.Repeat("a.", 127) + "a",
		"127.0.0.1", "127.1", "2130706433", "0177.0.0.1", "0x7f.0.0.1", "0x7f000001", "0x", "127.0.0.1.", "127.0.0.0x1", "a.1", "１２７.０.０.１", "①②⑦.1",
		"::1", "[::1]", "::ffff:127.0.0.1", "fe80::1%eth0", "0:0:0:0:0:0:0:1",
	} {
		_, err := Normalize(given)
		require.Error(t, err, "%q", given)
	}
}

func TestPatternsNameWhatIsBelow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"pypi.org", "pypi.org", true},
		{"pypi.org", "www.pypi.org", false},
		{"pypi.org", "xpypi.org", false},
		{"*.pypi.org", "www.pypi.org", true},
		{"*.pypi.org", "a.b.pypi.org", true},
		{"*.pypi.org", "pypi.org", false},
		{"*.pypi.org", "evilpypi.org", false},
		{"*.pypi.org", "pypi.org.evil.example", false},
		{"*", "anything.example", true},
	} {
		require.Equal(t, tt.want, matches(tt.pattern, tt.name), "%s %s", tt.pattern, tt.name)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"8.8.8.8": "", "1.1.1.1": "", "172.15.255.255": "", "172.32.0.1": "", "100.63.255.255": "", "100.128.0.1": "", "198.17.255.255": "", "223.255.255.255": "",
		"2606:4700::1111": "", "2a00::1": "",
		"0.0.0.0": "an unspecified address", "0.1.2.3": "an unspecified address", "::": "an unspecified address",
		"127.0.0.1": "a loopback address", "127.255.255.255": "a loopback address", "::1": "a loopback address",
		"10.0.0.0": private, "172.16.0.1": private, "172.31.255.255": private, "192.168.1.1": private, "100.64.0.1": private, "100.127.255.255": private, "fc00::1": private, "fdff::1": private,
		"169.254.1.1": "a link-local address", "fe80::1": "a link-local address", "febf::1": "a link-local address",
		"169.254.169.254": "a cloud metadata address", "fd00:ec2::254": "a cloud metadata address", "100.100.100.200": "a cloud metadata address", "168.63.129.16": "a cloud metadata address",
		"224.0.0.1": "a multicast address", "239.255.255.255": "a multicast address", "ff02::1": "a multicast address",
		"192.0.0.1": reserved, "192.0.2.1": reserved, "198.18.0.1": reserved, "198.19.255.255": reserved, "198.51.100.1": reserved, "203.0.113.1": reserved, "240.0.0.1": reserved, "255.255.255.255": reserved,
		"2001:db8::1": reserved, "100::1": reserved, "fec0::1": reserved, "4000::1": reserved, "3fff::1": reserved,
		"64:ff9b::a00:1": embedded, "64:ff9b:1::1": embedded, "2002:7f00:1::": embedded, "2001:0:1::": embedded, "::7f00:1": embedded,
		"::ffff:127.0.0.1": "a loopback address", "::ffff:10.0.0.1": private, "::ffff:8.8.8.8": "",
	} {
		err := Rule{}.checkAddress(netip.MustParseAddr(addr))
		if want == "" {
			require.NoError(t, err, addr)
			continue
		}
		require.ErrorContains(t, err, want, addr)
	}
	require.Error(t, Rule{}.checkAddress(netip.MustParseAddr("2606:4700::1%eth0")))
	require.Error(t, Rule{}.checkAddress(netip.Addr{}))
}

func TestARuleOpensPrivateBlocksAlone(t *testing.T) {
	t.Parallel()
	rule := Rule{Private: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("fd00::/8")}}
	for addr, open := range map[string]bool{
		"10.1.2.3": true, "::ffff:10.1.2.3": true, "10.2.0.1": false, "100.64.0.1": true, "fd12::1": true,
		"100.100.100.200": false, "fd00:ec2::254": false, "127.0.0.1": false,
	} {
		require.Equal(t, open, rule.checkAddress(netip.MustParseAddr(addr)) == nil, addr)
	}
	for _, block := range []string{"10.0.0.0/8", "192.168.1.0/24", "fd00::/8", "10.1.2.3/32"} {
		require.NoError(t, checkPrivate(netip.MustParsePrefix(block)), block)
	}
	for _, block := range []string{"0.0.0.0/0", "10.0.0.0/7", "127.0.0.0/8", "169.254.0.0/16", "8.8.8.0/24", "::/0", "fe80::/10", "10.1.2.3/24"} {
		require.Error(t, checkPrivate(netip.MustParsePrefix(block)), block)
	}
}

func FuzzNormalize(f *testing.F) {
	for _, seed := range []string{
		"pypi.org", "PyPI.Org.", "127.0.0.1", "0x7f.1", "2130706433", "[::1]", "::ffff:127.0.0.1", "bücher。example", "ｐｙｐｉ．ｏｒｇ", "１２７.０.０.１", "xn--bcher-kva.example",
		"a..b", "a\x00b", "a%2e", "①②⑦.⓪.⓪.①", "\u00ad.example", "a\u200d.example", "ß.example", "0X7F.1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		name, err := Normalize(given)
		if err != nil {
			require.Empty(t, name)
			return
		}
		again, err := Normalize(name)
		require.NoError(t, err)
		require.Equal(t, name, again, "a normal form is its own")
		require.Equal(t, strings.ToLower(name), name)
		require.LessOrEqual(t, len(name), maxName)
		require.NotContains(t, name, "..")
		_, err = netip.ParseAddr(name)
		require.Error(t, err, "an address is no name")
		last := name[strings.LastIndexByte(name, '.')+1:]
		require.NotEmpty(t, strings.Trim(last, "0123456789"), "inet_aton reads this")
		require.Empty(t, strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_."))
	})
}
