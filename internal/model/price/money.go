package price

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Money is an amount of some currency in trillionths of its unit: what one token
// costs at a Rate of one. Sums of it are exact. Up to some nine million units fit;
// what is more stays there.
type Money int64

// moneyDigits are the decimal places of Money.
const moneyDigits = 12

// Add returns the sum, which never wraps.
func (m Money) Add(o Money) Money {
	if o > math.MaxInt64-m {
		return math.MaxInt64
	}
	return m + o
}

// String is the amount as a decimal number without needless zeros.
func (m Money) String() string {
	text := fmt.Sprintf("%0*d", moneyDigits+1, int64(m))
	whole, part := text[:len(text)-moneyDigits], strings.TrimRight(text[len(text)-moneyDigits:], "0")
	if part == "" {
		return whole
	}
	return whole + "." + part
}

// Short is the amount for people: two places, or as many as show the first two
// digits that are not zero.
func (m Money) Short() string {
	places := 2
	for limit := Money(1e11); m > 0 && m < limit && places < moneyDigits; limit /= 10 {
		places++
	}
	return strconv.FormatFloat(float64(m)/1e12, 'f', places, 64)
}

var errNoAmount = errors.New("not an amount of money")

// parseMoney reads a decimal number. What is finer than Money is rounded.
func parseMoney(text string) (Money, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f < 0 || f*1e12 >= math.MaxInt64 {
		return 0, errNoAmount
	}
	if whole, part, _ := strings.Cut(text, "."); len(part) <= moneyDigits {
		// Exact where it is written as we write it.
		if n, err := strconv.ParseInt(whole+part+strings.Repeat("0", moneyDigits-len(part)), 10, 64); err == nil {
			return Money(n), nil
		}
	}
	return Money(math.Round(f * 1e12)), nil
}

// Rate is what a million tokens cost, in millionths of a currency's unit.
type Rate int64

// maxRate bounds a rate: no model costs a million for a million tokens.
const maxRate = 1e12

// readRate takes a number of TOML as a rate.
func readRate(v any) (Rate, error) {
	units := -1.0
	switch n := v.(type) {
	case int64:
		units = float64(n)
	case float64:
		units = n
	}
	if !(units >= 0 && units*1e6 <= maxRate) { // nor is NaN
		return 0, fmt.Errorf("%v is no price: write what a million tokens cost, such as 2.5", v)
	}
	return rateOf(units), nil
}

func rateOf(units float64) Rate { return Rate(math.Round(units * 1e6)) }

// cost is what tokens cost at a rate.
func (r Rate) cost(tokens uint64) Money {
	if r > 0 && tokens > uint64(math.MaxInt64)/uint64(r) {
		return math.MaxInt64
	}
	return Money(tokens) * Money(r)
}
