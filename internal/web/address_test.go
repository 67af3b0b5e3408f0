package web

import (
	"errors"
	"net/netip"
	"testing"
)

func TestPublic(t *testing.T) {
	for _, s := range []string{
		"1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0", "169.253.255.255",
		"2606:4700:4700::1111", "2a00:1450:4001::200e", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8",
	} {
		if err := Public(netip.MustParseAddr(s)); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	for _, s := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254", "168.63.129.16",
		"169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.19.255.255",
		"203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
		"64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b:1::1", "2002:7f00:1::1", "2002:808:808::1", "2001::1", "2001:db8::1",
		"fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "100::1", "4000::1",
	} {
		if err := Public(netip.MustParseAddr(s)); !errors.As(err, new(*AddressError)) {
			t.Errorf("%s: %v", s, err)
		}
	}
	if Public(netip.Addr{}) == nil {
		t.Error("no address at all is public")
	}
}

func TestOwnAddress(t *testing.T) {
	if err := ownAddress(netip.MustParseAddr("127.0.0.1")); !errors.As(err, new(*AddressError)) {
		t.Errorf("loopback is not ours: %v", err)
	}
	if err := ownAddress(netip.MustParseAddr("8.8.8.8")); err != nil {
		t.Errorf("8.8.8.8 is ours: %v", err)
	}
}
