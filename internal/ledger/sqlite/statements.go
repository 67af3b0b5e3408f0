package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// preparer is a *sql.DB or a *sql.Conn.
type preparer interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// statements prepares each query at its first use, so that opening a store
// prepares none. It is safe for concurrent use as far as its preparer is.
type statements struct {
	p  preparer
	mu sync.Mutex
	m  map[string]*sql.Stmt // nil once closed
}

func newStatements(p preparer) *statements {
	return &statements{p: p, m: make(map[string]*sql.Stmt)}
}

func (s *statements) get(query string) (*sql.Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st, ok := s.m[query]; ok {
		return st, nil
	}
	if s.m == nil {
		return nil, ErrClosed
	}
	st, err := s.p.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	s.m[query] = st
	return st, nil
}

// exec runs a statement and returns how many rows it changed.
func (s *statements) exec(query string, args ...any) (int64, error) {
	st, err := s.get(query)
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// row reads the first row of a query into dest; false when there is none.
func (s *statements) row(query string, args []any, dest ...any) (bool, error) {
	st, err := s.get(query)
	if err != nil {
		return false, err
	}
	err = st.QueryRowContext(context.Background(), args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// each calls scan for every row of a query.
func (s *statements) each(ctx context.Context, query string, args []any, scan func(*sql.Rows) error) error {
	st, err := s.get(query)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// close finalises every statement (SQLite does not close a connection that has
// one left) and prepares no more.
func (s *statements) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, st := range s.m {
		errs = append(errs, st.Close())
	}
	s.m = nil
	return errors.Join(errs...)
}
