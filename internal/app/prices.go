package app

import (
	"sync"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/model/price"
)

// prices are what the user says models cost, from the data directory of the first
// configuration that could be used.
type prices struct {
	once sync.Once
	book *price.Book
}

func (p *prices) of(c *config.Config, report func(error)) *price.Book {
	p.once.Do(func() { p.book = price.NewBook(c.PricesPath(), report) })
	return p.book
}
