package session

import (
	"cmp"
	"slices"
)

// Share lets another owner into a session, with at most a role.
type Share struct {
	Owner string
	Role  Role
}

// ShareChange gives an owner a share, in place of the one there may be, or takes
// it back.
type ShareChange struct {
	Share
	Revoke bool
}

// applyShares returns the shares after changes, sorted by owner.
func applyShares(shares []Share, changes []ShareChange) []Share {
	if len(changes) == 0 {
		return shares
	}
	shares = slices.Clone(shares) // the old list may be in other hands
	for _, c := range changes {
		shares = slices.DeleteFunc(shares, func(s Share) bool { return s.Owner == c.Owner })
		if !c.Revoke {
			shares = append(shares, c.Share)
		}
	}
	slices.SortFunc(shares, func(a, b Share) int { return cmp.Compare(a.Owner, b.Owner) })
	return shares
}

// RoleOf is what an owner may at most do in the session: everything in their
// own, what a share says in another's. ok is false for those it does not exist
// for.
func (i Info) RoleOf(owner string) (role Role, ok bool) {
	if owner == i.Owner {
		return Approver, true
	}
	for _, s := range i.Shares {
		if s.Owner == owner {
			return s.Role, true
		}
	}
	return 0, false
}
