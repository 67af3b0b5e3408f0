package app

import (
	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/native"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// drivers finds what runs an agent.
type drivers struct {
	native *native.Driver
	conf   *live
}

func (d *drivers) of(alias string) (session.Driver, error) {
	c, err := d.conf.get()
	if err != nil {
		return nil, err
	}
	if alias, err = c.PickForLoad(alias); err != nil {
		return nil, session.Invalidf("%v", err)
	}
	if c.Agents[alias].Driver() != config.DriverNative {
		return nil, session.Invalidf("agent %s runs an external program (runtime type acp), which this build does not host; choose a native agent", alias)
	}
	return d.native, nil
}
