"""A hook of mkdocs: links from the documents to other files of the repository lead to its host. A dead one is a warning."""

import logging
import os
import posixpath
import re

RELATIVE_LINK = re.compile(r"(?<=\]\()\.\./[^)\s]*")
log = logging.getLogger("mkdocs.links")


def on_page_markdown(markdown, page, config, **_):
    folder = posixpath.join("docs", posixpath.dirname(page.file.src_path))
    repository = os.path.dirname(config["config_file_path"])

    def target(link):
        path = posixpath.normpath(posixpath.join(folder, link[0]))
        if path.startswith("docs/"):
            return link[0]
        if not os.path.exists(os.path.join(repository, path.partition("#")[0])):
            log.warning("%s: there is no %s", page.file.src_path, path)
        return posixpath.join(config["repo_url"], "blob/HEAD", path)

    return RELATIVE_LINK.sub(target, markdown)
