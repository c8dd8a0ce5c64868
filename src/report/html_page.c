/*
 * Style, script and frame of all pages. The content security policy forbids loading anything and
 * running any script but the one below, whose hash it names; tests/cli/report_html.sh compares
 * them.
 */
#include "report/escape.h"
#include "report/html.h"

static const char style[] =
	":root{color-scheme:light dark;--bg:#fff;--fg:#1d2329;--dim:#59636e;--soft:#f4f6f8;"
	"--edge:#d5dbe1;--bad:#c0182b;--badbg:#fdf0f1;--link:#0b5bb5;--card:#fff;"
	"--t0:#57606a;--t1:#0b63c5;--t2:#9a4a00;--t3:#6b3fa0;--t4:#00715f;--t5:#a3186f;"
	"--t6:#5c6b00;--t7:#1f4e79;--l0:#5aa9e6;--l1:#f0a202;--l2:#7bc47f;--l3:#c58bf2}"
	"@media(prefers-color-scheme:dark){:root{--bg:#14181c;--fg:#e4e8ec;--dim:#9aa5b0;"
	"--soft:#1d2328;--edge:#39424b;--bad:#ff7b85;--badbg:#2d1a1d;--link:#7ab8ff;--card:#1d2328;"
	"--t0:#9aa5b0;--t1:#6cb2ff;--t2:#f2a65a;--t3:#c39bf5;--t4:#4fd1b5;--t5:#f28ac8;"
	"--t6:#c3d14f;--t7:#8fb8e0;--l0:#2f79b3;--l1:#b37a02;--l2:#3f8f45;--l3:#8a4fc0}}"
	"*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--fg);"
	"font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',sans-serif}"
	"main{max-width:1560px;margin:0 auto;padding:16px}h1{font-size:1.7rem;line-height:1.25;"
	"margin:.2em 0 .3em;overflow-wrap:anywhere}"
	"h2{font-size:1.15rem;margin:1.8em 0 .6em}h3{font-size:1rem;margin:0 0 "
	".3em;overflow-wrap:anywhere}p{margin:.5em 0}a{color:var(--link)}"
	"code,pre,.code{font-family:ui-monospace,'DejaVu Sans Mono','Liberation "
	"Mono',Menlo,Consolas,monospace}"
	"code{font-size:.9em;overflow-wrap:anywhere}pre{background:var(--soft);border:1px solid "
	"var(--edge);border-radius:6px;"
	"padding:10px;margin:.5em 0;overflow:auto;max-height:24em;font-size:.85rem;"
	"white-space:pre-wrap;overflow-wrap:anywhere}"
	".meta,.dim{color:var(--dim);font-size:.9rem;overflow-wrap:anywhere}"
	".tag{display:inline-block;border:1px solid var(--edge);border-radius:9px;"
	"padding:0 9px;margin-right:6px;color:var(--fg);background:var(--soft)}"
	".fail{background:var(--badbg);border-left:4px solid var(--bad);padding:8px "
	"12px;border-radius:4px;overflow-wrap:anywhere}"
	".fail p{margin:.2em 0}.hint{border-left:4px solid var(--link);padding:2px 12px}"
	"ol.story{padding:0;list-style:none;margin:.8em 0}.story li{position:relative;padding:0 0 "
	"0 36px;margin:0 0 .7em;overflow-wrap:anywhere}"
	".story .n{position:absolute;left:0;top:0;width:26px;height:26px;border-radius:13px;"
	"color:var(--bg);text-align:center;font-weight:600}"
	".story code{display:block;color:var(--dim)}"
	".cmd{display:flex;gap:8px;align-items:center;background:var(--soft);border:1px solid "
	"var(--edge);border-radius:6px;padding:6px 6px 6px 12px}"
	".cmd code{flex:1}button{font:inherit;color:var(--fg);background:var(--bg);border:1px "
	"solid var(--edge);border-radius:6px;padding:4px 12px;cursor:pointer}"
	"button:hover{border-color:var(--link)}:focus-visible{outline:3px solid "
	"var(--link);outline-offset:2px}"
	".scroll{overflow-x:auto}.picture{display:block;height:auto;font-family:inherit}"
	".picture{max-width:100%}.narrow{display:none}"
	"@media(min-width:1440px){.top{display:grid;grid-template-columns:minmax(0,430px) "
	"minmax(0,1fr);gap:36px}"
	".top>section>h2:first-child{margin-top:.3em}header{display:flex;gap:36px;"
	"justify-content:space-between;align-items:end;margin-bottom:1em}"
	".again{min-width:400px;max-width:45%;flex:none}}.again p{margin:.2em 0}"
	"@media(max-width:760px){.wide{display:none}.narrow{display:block;width:100%}"
	"h1{font-size:1.4rem}}"
	".t0{--c:var(--t0)}.t1{--c:var(--t1)}.t2{--c:var(--t2)}.t3{--c:var(--t3)}.t4{--c:var(--t4)}"
	".t5{--c:var(--t5)}.t6{--c:var(--t6)}.t7{--c:var(--t7)}"
	".l0{--b:var(--l0)}.l1{--b:var(--l1)}.l2{--b:var(--l2)}.l3{--b:var(--l3)}"
	"svg text{fill:var(--fg);font-size:13px}svg "
	".name{font-weight:600;fill:var(--c)}.head{fill:var(--soft);stroke:var(--c)}"
	".life{stroke:var(--c);stroke-width:2;opacity:.45}"
	".dot{fill:var(--bg);stroke:var(--c);stroke-width:2}.dot.cause,.dot.failure{fill:var(--c)}"
	".bar{fill:var(--b)}svg .line{fill:var(--dim);font-size:12px}svg "
	".line.pending{fill:var(--bad)}svg .gap{fill:var(--dim);font-size:11px;font-style:italic}"
	".card{fill:var(--card);stroke:var(--c);stroke-width:1.5}a:hover "
	".card{stroke-width:3}.unreached .card{stroke-dasharray:4 4}.unreached "
	".what{fill:var(--dim)}.dot.unreached{fill:var(--bg)}.failure "
	".card{fill:var(--badbg);stroke:var(--bad);stroke-width:2}"
	".badge{fill:var(--c)}.failure .badge{fill:var(--bad)}svg "
	".num{fill:var(--bg);font-size:12px;font-weight:700}"
	"svg .what{font-weight:600}svg .place{fill:var(--dim);font-size:12px}svg "
	".code{font-size:12px}.arrow{fill:none;stroke-width:2}.arrow.conflict{stroke:var(--bad)}"
	".arrow.handover{stroke:var(--dim);stroke-width:1.3;stroke-dasharray:5 4}"
	".arrow.wait{stroke:var(--bad);stroke-dasharray:2 4}.tip.conflict path,.tip.wait "
	"path{fill:var(--bad)}.tip.handover path{fill:var(--dim)}"
	".legend{display:flex;flex-wrap:wrap;gap:4px "
	"18px;font-size:.85rem;color:var(--dim);padding:0;margin:.6em 0;list-style:none}"
	".legend i{display:inline-block;width:22px;height:0;border-top:2px solid "
	"var(--bad);margin-right:6px;vertical-align:middle}"
	".legend i.h{border-top:1.5px dashed var(--dim)}.legend "
	"i.w{border-top-style:dotted}.legend i.b{width:6px;height:14px;border:0;border-radius:2px;"
	"background:var(--b)}table{border-collapse:collapse;width:100%;font-size:.9rem}"
	"th,td{text-align:left;vertical-align:top;padding:5px 10px 5px 0;border-bottom:1px solid "
	"var(--edge);overflow-wrap:anywhere}"
	"tr.cause td,tr.failure td{background:var(--soft)}tr:target td{outline:2px solid "
	"var(--link)}.who{color:var(--c);font-weight:600;white-space:nowrap}"
	".cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,270px),1fr));"
	"gap:14px;padding:0;margin:0;list-style:none}"
	".cards>*{border:1px solid var(--edge);border-radius:8px;padding:12px;min-width:0}.cards "
	"ol{padding-left:1.3em;margin:.3em 0;font-size:.88rem}"
	".small{max-width:100%;height:auto}.two{display:grid;"
	"grid-template-columns:repeat(auto-fit,minmax(min(100%,300px),1fr));gap:24px}"
	"tr.first td{background:var(--badbg);font-weight:600}dl{display:grid;"
	"grid-template-columns:max-content minmax(0,1fr);gap:4px 18px;margin:0;font-size:.92rem}"
	"dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}summary{cursor:pointer}"
	"@media(max-width:760px){table.steps thead{display:none}table.steps "
	"td{display:block;border:0;padding:1px 6px}table.steps tr{display:block;border-bottom:1px "
	"solid var(--edge);padding:6px 0}}"
	".sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);"
	"white-space:nowrap}"
	"@media print{:root{color-scheme:light}button{display:none}.scroll{overflow:visible}"
	".wide{display:block;min-width:0!important}.narrow{display:none!important}"
	"table{font-size:.8rem}th,td{overflow-wrap:break-word}pre{max-height:none}"
	"h2{break-after:avoid}svg,.cards>*,tr{break-inside:avoid}main{max-width:none;padding:0}"
	"body{font-size:11pt}}";

static const char script[] =
	"document.addEventListener('click',function(e){"
	"var b=e.target.closest('button[data-copy]');if(!b)return;"
	"var t=b.parentNode.querySelector('code');"
	"function done(){document.getElementById('said').textContent='Copied';"
	"b.textContent='Copied';setTimeout(function(){b.textContent='Copy'},1500)}"
	"function old(){var r=document.createRange();r.selectNodeContents(t);var s=getSelection();"
	"s.removeAllRanges();s.addRange(r);if(document.execCommand('copy'))done()}"
	"if(navigator.clipboard)navigator.clipboard.writeText(t.textContent).then(done,old);else "
	"old()});addEventListener('beforeprint',function(){"
	"document.querySelectorAll('details').forEach(function(d){d.open=true})});";

#define SCRIPT_HASH "PN3oQ5O6r6iAfHaB4dTbl5qy/u2eBuNZgLCoQUgpmPU="

void html_begin(struct buf *out, const char *title)
{
	buf_add_text(out,
		     "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		     "style-src 'unsafe-inline'; "
		     "script-src 'sha256-" SCRIPT_HASH
		     "'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
		     "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
		     "<link rel=\"icon\" href=\"data:,\">\n<title>");
	escape_html(out, title);
	buf_add_text(out, "</title>\n<style>");
	buf_add_text(out, style);
	buf_add_text(out, "</style>\n</head>\n<body>\n<main>\n");
}

void html_end(struct buf *out)
{
	buf_add_text(out,
		     "</main>\n<div id=\"said\" class=\"sr\" role=\"status\"></div>\n<script>");
	buf_add_text(out, script);
	buf_add_text(out, "</script>\n</body>\n</html>\n");
}

void html_paragraph(struct buf *out, const char *class, struct buf *text)
{
	if (text->size) {
		buf_addf(out, "<p class=\"%s\">", class);
		escape_html(out, buf_string(text));
		buf_add_text(out, "</p>\n");
	}
	buf_free(text);
}

void html_command(struct buf *out, const char *command)
{
	buf_add_text(out, "<div class=\"cmd\"><code>");
	escape_html(out, command);
	buf_add_text(out,
		     "</code><button type=\"button\" data-copy aria-label=\"Copy the command: ");
	escape_html(out, command);
	buf_add_text(out, "\">Copy</button></div>\n");
}
