package main

// emitCalls writes the typed handlers and callers of both sides.
func emitCalls(e *emitter, m *model) {
	sides := []struct{ side, handler, conn, peer string }{
		{"agent", "Agent", "AgentConn", "client"},
		{"client", "Client", "ClientConn", "agent"},
	}
	for _, s := range sides {
		calls := callsOf(m, s.side)
		e.handlerType(s.handler, s.side, s.peer, calls)
		e.handleRequest(s.handler, s.side, calls)
		e.handleNotification(s.handler, s.side, calls)
		e.callers(s.conn, s.side, calls)
	}
}

func callsOf(m *model, side string) (out []call) {
	for _, c := range m.calls {
		if c.side == side {
			out = append(out, c)
		}
	}
	return out
}

func (c call) isRequest() bool { return c.result != "" }

func (e *emitter) handlerType(name, side, peer string, calls []call) {
	e.p("// %s answers what a %s asks. Requests run on goroutines of their own,", name, peer)
	e.p("// notifications one after another in the order of arrival. A nil function")
	e.p("// answers that the method is unknown, or ignores the notification. The context")
	e.p("// of a request ends when the %s cancels it or the connection ends.", peer)
	e.p("type %s struct {", name)
	for _, c := range calls {
		e.p("// %s %s %s.", c.name, pick(c.isRequest(), "answers", "takes"), c.wire)
		if c.unstable {
			e.p("//\n// Unstable: not in the stable schema.")
		}
		if c.isRequest() {
			e.p("%s func(context.Context, *%s) (*%s, error)", c.name, c.params, c.result)
		} else {
			e.p("%s func(context.Context, *%s)", c.name, c.params)
		}
	}
	e.p("\n// UnknownRequest answers methods that are not of the schema, such as those that")
	e.p("// begin with an underscore. It must not block.")
	e.p("UnknownRequest func(context.Context, *acp.Request)")
	e.p("// UnknownNotification takes notifications that are not of the schema.")
	e.p("UnknownNotification func(context.Context, *acp.Notification)\n}\n")
}

// strict says how a side reads what it is sent: an agent refuses what it cannot
// act on, a client keeps what it does not know.
func strict(side string) bool { return side == "agent" }

func (e *emitter) handleRequest(name, side string, calls []call) {
	e.p("func (h *%s) handleRequest(ctx context.Context, req *acp.Request) {\nswitch req.Method {", name)
	for _, c := range calls {
		if c.isRequest() {
			e.p("case %q:\nwire.Serve(ctx, req, h.%s, decode%s, %t)", c.wire, c.name, c.params, strict(side))
		}
	}
	e.p("default:\nwire.ServeUnknown(ctx, req, h.UnknownRequest)\n}\n}\n")
}

func (e *emitter) handleNotification(name, side string, calls []call) {
	e.p("func (h *%s) handleNotification(ctx context.Context, n *acp.Notification) {\nswitch n.Method {", name)
	for _, c := range calls {
		if !c.isRequest() {
			e.p("case %q:\nwire.Take(ctx, n, h.%s, decode%s, %t)", c.wire, c.name, c.params, strict(side))
		}
	}
	e.p("default:\nif h.UnknownNotification != nil {\nh.UnknownNotification(ctx, n)\n}\n}\n}\n")
}

func (e *emitter) callers(name, side string, calls []call) {
	e.p("// %s calls the %s at the other end of a connection. A null result reads as an", name, side)
	e.p("// empty one.")
	e.p("type %s struct{ *acp.Conn }\n", name)
	for _, c := range calls {
		e.p("// %s sends %s.", c.name, c.wire)
		if c.unstable {
			e.p("//\n// Unstable: not in the stable schema.")
		}
		if c.isRequest() {
			e.p("func (c %s) %s(ctx context.Context, params *%s) (*%s, error) {", name, c.name, c.params, c.result)
			e.p("return wire.Call(ctx, c.Conn, %q, params, decode%s)\n}\n", c.wire, c.result)
		} else {
			e.p("func (c %s) %s(ctx context.Context, params *%s) error {", name, c.name, c.params)
			e.p("return c.Notify(ctx, %q, params)\n}\n", c.wire)
		}
	}
}
