/* Files that are built into the program for html_page.h: the build makes html_assets.c of them (mk/html.mk,
 * tools/embed.sh). Those that the build did not find have no bytes. */
#ifndef WS_VIEW_HTML_ASSETS_H
#define WS_VIEW_HTML_ASSETS_H

#include <stddef.h>

struct html_asset {
  const unsigned char *data;
  size_t bytes;
};

extern const struct html_asset html_template; /* src/view/html/report.html */
extern const struct html_asset html_style;    /* the .css there */
extern const struct html_asset html_script;   /* the .js there */
extern const struct html_asset html_charts;   /* dygraphs */
extern const struct html_asset html_charts_licence;

#endif
