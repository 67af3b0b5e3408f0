// Package price knows what models cost: from a file of the user's, and from the
// public price lists of their makers. A model that is in neither has no price
// rather than a guess.
package price

// Price is what a model costs for a million tokens.
type Price struct {
	Currency                             string // "" means USD
	Input, Output, CacheRead, CacheWrite Rate
}

// Tokens are counted as they are billed: what was read from a cache or written
// to one is not in Input.
type Tokens struct{ Input, Output, CacheRead, CacheWrite uint64 }

// Unit is the currency of the price.
func (p Price) Unit() string {
	if p.Currency == "" {
		return USD
	}
	return p.Currency
}

// Cost is what tokens cost.
func (p Price) Cost(t Tokens) Bill {
	sum := p.Input.cost(t.Input).Add(p.Output.cost(t.Output)).
		Add(p.CacheRead.cost(t.CacheRead)).Add(p.CacheWrite.cost(t.CacheWrite))
	return Bill{p.Unit(): sum}
}
