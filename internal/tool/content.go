package tool

// Content is one item shown to people. Exactly one field is set.
type Content struct {
	Text       string
	Diff       *Diff
	TerminalID string // a terminal of the client's, embedded while it runs
	Image      *Media
	Audio      *Media
	Resource   *Resource
	Link       *ResourceLink
}

// Media is an image or a sound.
type Media struct {
	MimeType string // its true type: image/… or audio/…
	Data     []byte
	Path     string // where it is kept, absolute; "" when it is not
}

// Resource is a file that is shown with its content: Text, unless Blob is set.
type Resource struct {
	URI      string
	MimeType string // may be empty
	Text     string
	Blob     []byte
}

// ResourceLink refers to a file or document without its content.
type ResourceLink struct {
	URI, Name   string // both needed
	Title       string
	Description string
	MimeType    string
	Size        int64 // in bytes, 0 when unknown
}
