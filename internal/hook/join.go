package hook

import (
	"context"
	"errors"

	"github.com/grapnel-ai/grapnel/internal/policy"
)

// joined are several Points, in order.
type joined []Points

// Join returns Points that ask all of the given ones, in order; nil ones are
// left out. The first that blocks or answers decides; all are told what is only
// told.
func Join(points ...Points) Points {
	var j joined
	for _, p := range points {
		if p != nil {
			j = append(j, p)
		}
	}
	switch len(j) {
	case 0:
		return None{}
	case 1:
		return j[0]
	}
	return j
}

func (j joined) BeforeTool(ctx context.Context, c Call, d policy.Decision) (string, error) {
	for _, p := range j {
		if block, err := p.BeforeTool(ctx, c, d); block != "" || err != nil {
			return block, err
		}
	}
	return "", nil
}

// Permission asks until one answers.
func (j joined) Permission(ctx context.Context, c Call, d policy.Decision) (Answer, error) {
	var errs error
	answer := Answer{Verdict: policy.Ask}
	for _, p := range j {
		a, err := p.Permission(ctx, c, d)
		errs = errors.Join(errs, err)
		if err == nil && a.Verdict != policy.Ask {
			answer = a
			break
		}
	}
	return answer, errs
}

func (j joined) Settled(ctx context.Context, c Call, s Settled) error {
	var errs error
	for _, p := range j {
		errs = errors.Join(errs, p.Settled(ctx, c, s))
	}
	return errs
}

func (j joined) AfterTool(ctx context.Context, c Call, r Result) error {
	var errs error
	for _, p := range j {
		errs = errors.Join(errs, p.AfterTool(ctx, c, r))
	}
	return errs
}

func (j joined) BeforeFinalize(ctx context.Context, f Final) (string, error) {
	var errs error
	for _, p := range j {
		again, err := p.BeforeFinalize(ctx, f)
		errs = errors.Join(errs, err)
		if err == nil && again != "" {
			return again, errs
		}
	}
	return "", errs
}
