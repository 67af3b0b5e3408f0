package anthropic

import (
	"strconv"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/price"
)

// The limits of an answer in tokens.
const (
	// usualMaxTokens is what a step may produce when nobody says otherwise:
	// room for a large file and thinking, short of what models could.
	usualMaxTokens = 32_000
	// unknownMaxTokens is for models we know nothing of, which refuse a
	// request that asks for more than they can.
	unknownMaxTokens = 8_192
	// minBudget is the least the API accepts as a thinking budget.
	minBudget = 1_024
)

// version is the generation of a Claude model, such as 4.6.
type version struct {
	family       string
	major, minor int
}

// parseVersion reads ids like claude-sonnet-4-6, claude-opus-5,
// claude-haiku-4-5-20251001 and claude-3-7-sonnet-latest, with or without a
// vendor prefix.
func parseVersion(id string) (v version, ok bool) {
	_, rest, ok := strings.Cut(strings.ToLower(id), "claude-")
	if !ok {
		return v, false
	}
	var numbers []int
	for _, f := range strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("-.@:", r) }) {
		n, err := strconv.Atoi(f)
		switch {
		case err != nil && v.family == "":
			v.family = f
		case err == nil && len(f) <= 2: // longer numbers are dates
			numbers = append(numbers, n)
		}
	}
	if len(numbers) == 0 {
		return version{}, false
	}
	v.major = numbers[0]
	if len(numbers) > 1 {
		v.minor = numbers[1]
	}
	return v, true
}

func (v version) atLeast(major, minor int) bool {
	return v.major > major || v.major == major && v.minor >= minor
}

// adaptive reports whether the model decides itself how long to think, given
// an effort. Older ones take a budget of tokens.
func (v version) adaptive() bool { return v.atLeast(4, 6) }

// thinksByDefault reports whether the model thinks unless told not to, or
// cannot be told not to.
func (v version) thinksByDefault() bool { return v.atLeast(5, 0) }

func (v version) maxOutput() int {
	switch {
	case v.atLeast(4, 7), v.family == "opus" && v.atLeast(4, 6):
		return 128_000
	case v.family == "opus" && !v.atLeast(4, 5):
		return 32_000
	default:
		return 64_000
	}
}

func (v version) contextWindow() int {
	if v.atLeast(5, 0) {
		return 1_000_000
	}
	return 200_000
}

// Info implements model.Provider.
func (p *Provider) Info(id string) model.Info {
	if id == "" {
		id = p.ep.Config.Model
	}
	info := model.Info{Images: true, ContextWindow: p.ep.ContextWindow, Price: p.ep.Price}
	if info.Price == nil {
		info.Price = price.Lookup(id)
	}
	v, ok := parseVersion(id)
	if !ok {
		return info
	}
	info.Thinking = []model.Level{model.LevelOff, model.LevelLow, model.LevelMedium, model.LevelHigh}
	info.MaxOutput = v.maxOutput()
	if info.ContextWindow == 0 {
		info.ContextWindow = v.contextWindow()
	}
	return info
}

func maxTokens(id string, asked int) int64 {
	v, known := parseVersion(id)
	switch {
	case asked > 0 && known:
		return int64(min(asked, v.maxOutput()))
	case asked > 0:
		return int64(asked)
	case known:
		return int64(min(usualMaxTokens, v.maxOutput()))
	default:
		return unknownMaxTokens
	}
}

// think asks for the level in the way that the model understands.
func think(params *anthropic.MessageNewParams, level model.Level) {
	v, known := parseVersion(params.Model)
	if known && v.adaptive() {
		thinkAdaptive(params, level, v)
		return
	}
	budgets := map[model.Level]int64{model.LevelLow: 2_048, model.LevelMedium: 8_192, model.LevelHigh: 24_576}
	budget := min(budgets[level], params.MaxTokens-minBudget)
	if budget >= minBudget {
		params.Thinking = anthropic.ThinkingConfigParamOfEnabled(budget)
	}
}

func thinkAdaptive(params *anthropic.MessageNewParams, level model.Level, v version) {
	efforts := map[model.Level]anthropic.OutputConfigEffort{
		model.LevelLow:    anthropic.OutputConfigEffortLow,
		model.LevelMedium: anthropic.OutputConfigEffortMedium,
		model.LevelHigh:   anthropic.OutputConfigEffortHigh,
	}
	if v.thinksByDefault() {
		// Not every one of these models can be kept from thinking; all can be
		// asked to do little of it.
		efforts[model.LevelOff] = anthropic.OutputConfigEffortLow
	} else if level == model.LevelOff || level == model.LevelDefault {
		return
	}
	params.OutputConfig.Effort = efforts[level]
	params.Thinking.OfAdaptive = &anthropic.ThinkingConfigAdaptiveParam{
		// The default of newer models is to leave out what they thought.
		Display: anthropic.ThinkingConfigAdaptiveDisplaySummarized,
	}
}
