"use strict";
const { commands } = require("vscode");

/** Countersign itself waits until it is asked for; a newcomer should not have to look for it. */
exports.activate = () => commands.executeCommand("countersign.chat.focus");
