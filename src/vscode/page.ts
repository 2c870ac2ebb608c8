import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

/**
 * The page of a view. The policy gives it nothing but its own script, style and font: no remote
 * anything, no inline script or style, no eval, no images, no forms, no frames.
 */
export function setPage(webview: vscode.Webview, extension: vscode.Uri): void {
  const dist = vscode.Uri.joinPath(extension, "dist");
  webview.options = { enableScripts: true, enableForms: false, localResourceRoots: [dist] };
  const uri = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(dist, name)).toString();
  const nonce = randomBytes(18).toString("base64url");
  const policy = [
    "default-src 'none'",
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    `script-src 'nonce-${nonce}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  webview.html = `<!DOCTYPE html>
<html lang="${vscode.env.language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${uri("codicon.css")}">
<link rel="stylesheet" href="${uri("webview.css")}">
<title>Countersign</title>
</head>
<body>
<div id="root"></div>
<script nonce="${nonce}" src="${uri("webview.js")}"></script>
</body>
</html>`;
}
