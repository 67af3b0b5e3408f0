package sqlite

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// readShares reads an object of roles by owner. A role of a name that is not
// known here lets nobody in.
func readShares(object string) ([]session.Share, error) {
	if object == "" || object == "{}" {
		return nil, nil
	}
	var roles map[string]string
	if err := json.Unmarshal([]byte(object), &roles); err != nil {
		return nil, err
	}
	var shares []session.Share
	for owner, name := range roles {
		if role, err := session.ParseRole(name); err == nil {
			shares = append(shares, session.Share{Owner: owner, Role: role})
		}
	}
	slices.SortFunc(shares, func(a, b session.Share) int { return cmp.Compare(a.Owner, b.Owner) })
	return shares, nil
}

// share changes who else may enter a session.
func (t *tx) share(num int64, changes []session.ShareChange) {
	for _, c := range changes {
		if c.Revoke {
			t.exec(`DELETE FROM shares WHERE owner = ? AND num = ?`, c.Owner, num)
			continue
		}
		t.exec(`INSERT INTO shares (owner, num, role) VALUES (?, ?, ?)
			ON CONFLICT (owner, num) DO UPDATE SET role = excluded.role`, c.Owner, num, c.Role.String())
	}
}
