package web

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestMarkdown(t *testing.T) {
	base, err := url.Parse("https://example.com/docs/page?q=1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, page, want string }{
		{"text", "just  some\n text", "just some text"},
		{"paragraphs", "<p>one</p><p>two <b>bold</b>, <i>it</i></p>", "one\n\ntwo bold, it"},
		{"headings", "<h1> Top </h1>text<h2><span>Sub</span></h2>more", "# Top\n\ntext\n\n## Sub\n\nmore"},
		{"entities", "<p>a &lt;b&gt; &amp;amp; &eacute;</p>", "a <b> &amp; é"},
		{"script", "<p>a</p><script>if (a<b) alert('<p>')</script><style>p{}</style><noscript><p>off</p></noscript><p>b</p>", "a\n\nb"},
		{"template", "<svg><title>no</title><g>x</g></svg><template><p>no</p></template>yes", "yes"},
		{"slash that ends nothing", "<script/>a('x')</script><style />p{}</style><svg/><iframe src=x />y</iframe>yes<br/>no", "yes\nno"},
		{"list", "<ul><li>a<li><p>b</p><ul><li>c</li></ul></li></ul>after", "- a\n- b\n  - c\n\nafter"},
		{"numbers", "<ol><li>a</li><li>b</li></ol>", "1. a\n2. b"},
		{"empty item", "<ul><li></li><li>b</li></ul>", "- \n- b"},
		{"code", "use <code>a  b</code> here<pre><code>x\n  y</code></pre>done", "use `a b` here\n```\nx\n  y\n```\n\ndone"},
		{"link", `see <a href="../x?y=1">the <b>page</b></a>.`, "see [the page](https://example.com/x?y=1)."},
		{"link without text", `<a href="/x"><img src="p.png"></a>text`, "text"},
		{"links that lead nowhere", `<a href="#top">a</a> <a href="javascript:alert(1)">b</a> <a>c</a> <a href="http://u:p@h/">d</a>`, "a b c d"},
		{"link that breaks out", `<a href="/x) [evil](http://e.test">a</a>`, "[a](https://example.com/x%29%20%5Bevil%5D%28http://e.test)"},
		{"unclosed link", `<a href="/x">a`, "[a](https://example.com/x)"},
		{"table", "<table><tr><th>a</th><th>b</th></tr><tr><td><p>1</p></td><td>2</td></tr></table>", "a | b\n1 | 2"},
		{"break", "a<br>b<hr>c", "a\nb\n\n---\n\nc"},
		{"stray ends", "</ul></pre></a></p>text</div>", "text"},
		{"unclosed", "<div><p>a<ul><li>b", "a\n\n- b"},
		{"comment", "a<!-- <p>hidden</p> -->b", "ab"},
	} {
		_, got, _ := Markdown(c.page, base)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}

func TestMarkdownTitle(t *testing.T) {
	title, text, _ := Markdown("<html><head><title> A &amp;\n B </title></head><body>x<title>no</title></body>", nil)
	if title != "A & B" || text != "xno" {
		t.Errorf("title %q, text %q", title, text)
	}
}

// TestMarkdownIsBounded: whole addresses must not blow a page up.
func TestMarkdownIsBounded(t *testing.T) {
	base, err := url.Parse("https://example.com/" + strings.Repeat("x", 3000) + "/")
	if err != nil {
		t.Fatal(err)
	}
	_, text, cut := Markdown(strings.Repeat("<a href=y>z</a>", 100_000), base)
	if !cut || len(text) > maxText+10_000 {
		t.Errorf("%d bytes, cut %v", len(text), cut)
	}
}

// FuzzMarkdown: any page is read, in bounds, as valid text if it was.
func FuzzMarkdown(f *testing.F) {
	for _, seed := range []string{
		"<p>a</p>", "<ul><li><ol><li>", "<pre><code>", "<a href='", "<title>", "<svg><svg></svg>", "</li></ul>", "<table><td><tr>", "<!-- ", "<script>",
	} {
		f.Add(seed)
	}
	base, err := url.Parse("https://example.com/a/")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, page string) {
		title, text, _ := Markdown(page, base)
		if utf8.ValidString(page) && !utf8.ValidString(title+text) {
			t.Errorf("%q became %q, %q", page, title, text)
		}
		if len(title) > 2*maxTitle || len(text) > maxText+len(page)+1000 {
			t.Errorf("%d bytes became %d", len(page), len(text))
		}
	})
}
