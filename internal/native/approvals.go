package native

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// approvals lists what the user has allowed for the whole session, or takes some
// of it back: args is nothing, "revoke all" or "revoke N".
func (h *handle) approvals(ctx context.Context, _ session.Commanding, args string) (session.CommandDone, error) {
	words := strings.Fields(args)
	switch {
	case len(words) == 0 || len(words) == 1 && words[0] == "list":
		return answered(approvalList(h.grants.now()))
	case len(words) == 2 && words[0] == "revoke":
		return h.revokeApprovals(ctx, words[1])
	}
	return answered("Say `/approvals`, `/approvals revoke 2` or `/approvals revoke all`.")
}

func approvalList(list []policy.Grant) string {
	if len(list) == 0 {
		return "Nothing is always allowed in this session."
	}
	var text strings.Builder
	for i, g := range list {
		fmt.Fprintf(&text, "%d. %s\n", i+1, g.Describe())
	}
	return text.String() + "\n`/approvals revoke N` takes one of them back, `/approvals revoke all` all."
}

// revokeApprovals takes back one, by its number in the list, or all.
func (h *handle) revokeApprovals(ctx context.Context, which string) (session.CommandDone, error) {
	said := ""
	err := h.setGrants(ctx, func(list []policy.Grant) ([]policy.Grant, error) {
		if which == "all" {
			said = "Nothing is always allowed in this session any more."
			return nil, nil
		}
		n, err := strconv.Atoi(which)
		if err != nil || n < 1 || n > len(list) {
			said = fmt.Sprintf("There is no approval %s.\n\n%s", strconv.Quote(which), approvalList(list))
			return list, nil
		}
		said = "Taken back: " + list[n-1].Describe()
		return slices.Delete(slices.Clone(list), n-1, n), nil
	})
	if err != nil && said == "" {
		return session.CommandDone{}, err
	}
	if err != nil {
		said += "\n\nThis could not be recorded: " + err.Error()
	}
	return answered(said)
}
