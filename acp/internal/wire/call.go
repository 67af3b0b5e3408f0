package wire

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
)

// Params decodes params, absent ones as {}. The error is an *acp.Error with
// CodeInvalidParams.
func Params[P any](method string, raw jsontext.Value, decode Func[P], strict bool) (*P, error) {
	params := new(P)
	if err := Decode(orEmpty(raw), params, decode, strict); err != nil {
		return nil, acp.Errorf(acp.CodeInvalidParams, "invalid params of %s: %s", method, err)
	}
	return params, nil
}

func orEmpty(raw jsontext.Value) jsontext.Value {
	if len(raw) == 0 || raw.Kind() == 'n' {
		return jsontext.Value("{}")
	}
	return raw
}

// Serve answers req with f, on a goroutine of its own.
func Serve[P, R any](ctx context.Context, req *acp.Request, f func(context.Context, *P) (*R, error), decode Func[P], strict bool) {
	if f == nil {
		_ = req.Fail(acp.MethodNotFound(req.Method)) // nobody to tell if it cannot be sent
		return
	}
	params, err := Params(req.Method, req.Params, decode, strict)
	if err != nil {
		_ = req.Fail(err)
		return
	}
	Go(ctx, req, f, params)
}

// Go answers req with f(params), on a goroutine of its own.
func Go[P, R any](ctx context.Context, req *acp.Request, f func(context.Context, *P) (*R, error), params *P) {
	req.Go(ctx, func(ctx context.Context) (any, error) {
		result, err := f(ctx, params)
		if err != nil || result == nil {
			return nil, err
		}
		return result, nil
	})
}

// ServeUnknown answers a request whose method the schema does not have.
func ServeUnknown(ctx context.Context, req *acp.Request, f func(context.Context, *acp.Request)) {
	if f == nil {
		_ = req.Fail(acp.MethodNotFound(req.Method))
		return
	}
	f(ctx, req)
}

// Take gives a notification to f. One that does not decode is dropped: nobody
// waits for an answer.
func Take[P any](ctx context.Context, n *acp.Notification, f func(context.Context, *P), decode Func[P], strict bool) {
	if f == nil {
		return
	}
	if params, err := Params(n.Method, n.Params, decode, strict); err == nil {
		f(ctx, params)
	}
}

// Call calls method and decodes the result.
func Call[P, R any](ctx context.Context, c *acp.Conn, method string, params *P, decode Func[R]) (*R, error) {
	var body any // an untyped nil leaves params out
	if params != nil {
		body = params
	}
	raw, err := c.Call(ctx, method, body)
	if err != nil {
		return nil, err
	}
	result := new(R)
	if err := Decode(orEmpty(raw), result, decode, false); err != nil {
		return nil, fmt.Errorf("the peer's answer to %s is malformed: %w", method, err)
	}
	return result, nil
}
