"""Looks into a capture with RenderDoc's own replay: python3 capture.py CAPTURE SHADER LINE VARIABLE VALUE.

SHADER is the file of an RSL shader that is in the capture as it is on disk. Fails unless the capture has labels, the
names of kernels, the texts of SHADER and of GLSL, no writes of memory that only the device needs, and a vertex of the
shader that, stepped to LINE, then has this VALUE in VARIABLE.
"""

import os
import struct
import sys

import renderdoc as rd


def actions(all_actions, names=()):
    """Yields all actions, each with the names of the labels around it."""
    for action in all_actions:
        yield action, names
        yield from actions(action.children, names + (action.customName,))


def component(value, kind, index):
    """Returns a component of a value as a number."""
    return value.f32v[index] if kind == rd.VarType.Float else value.u32v[index]


def stepped(controller, vertex):
    """Yields file, line, functions and variables of each step of a vertex of the dispatch that was gone to."""
    trace = controller.DebugThread((0, 0, 0), (vertex, 0, 0))
    assert trace.debugger is not None, "the kernel cannot be debugged"
    info = {entry.instruction: entry for entry in trace.instInfo}
    known = {}
    try:
        while states := controller.ContinueDebug(trace.debugger):
            for state in states:
                for change in state.changes:
                    if change.after.name:
                        known[change.after.name] = change.after
                entry = info.get(state.nextInstruction)
                if entry is None:
                    continue
                variables = {}
                for source in entry.sourceVars:
                    parts = [(known.get(part.name), part.component) for part in source.variables]
                    if parts and all(value is not None for value, _ in parts):
                        variables[source.name] = [component(value.value, value.type, at) for value, at in parts]
                yield entry.lineInfo.fileIndex, entry.lineInfo.lineStart, list(state.callstack), variables
    finally:
        controller.FreeTrace(trace)


def check_dispatches(controller, shader):
    """Checks labels and sources; returns the events that dispatch the shader."""
    with open(shader, encoding="utf-8") as file:
        text = file.read()
    structured = controller.GetStructuredFile()
    labels, glsl, events = set(), set(), []
    for action, names in actions(controller.GetRootActions()):
        labels.update(name for name in names if name)
        if not action.flags & rd.ActionFlags.Dispatch:
            continue
        controller.SetFrameEvent(action.eventId, False)
        reflection = controller.GetPipelineState().GetShaderReflection(rd.ShaderStage.Compute)
        files = {file.filename: file.contents for file in reflection.debugInfo.files}
        if any(os.path.basename(name) == os.path.basename(shader) and contents == text for name, contents in files.items()):
            events.append(action.eventId)
        glsl.update(name for name, contents in files.items() if name.startswith("glsl/") and "void main()" in contents)
    print(f"labels: {sorted(labels)}")
    print(f"sources of kernels: {sorted(glsl)}")
    print(f"dispatches of {shader}: {events}")
    assert any("grids" in label for label in labels), "no label says what a dispatch goes through"
    assert "glsl/hide.comp" in glsl, "the source of a kernel of GLSL is missing"
    assert events, "the source of the shader is missing"
    names = {resource.name for resource in controller.GetResources()}
    assert any(name.startswith("shade ") for name in names), "no kernel has the name of its shader"
    return events, structured


def check_writes(controller, structured):
    """Checks that the capture itself writes only memory through which the host sends and receives."""
    names = {int(resource.resourceId): resource.name for resource in controller.GetResources()}
    buffers, written = {}, []
    for chunk in structured.chunks:
        if chunk.name == "vkBindBufferMemory":
            memory, buffer = (int(chunk.FindChild(part).AsResourceId()) for part in ("memory", "buffer"))
            buffers.setdefault(memory, set()).add(names[buffer])
        if chunk.name.endswith("Coherent Mapped Memory Write"):
            written.append(int(chunk.FindChild("MemRange").FindChild("memory").AsResourceId()))
    print(f"writes of mapped memory: {[sorted(buffers.get(memory, ())) for memory in written]}")
    others = {name for memory in written for name in buffers.get(memory, ())} - {"staging"}
    assert buffers and not others, f"memory is written that only the device needs: {others}"


def check_stepping(controller, events, shader, line, name, value):
    """Checks that a vertex comes to a line with this value of a variable."""
    rounded = struct.unpack("f", struct.pack("f", value))[0]
    for event in events:
        controller.SetFrameEvent(event, True)
        reflection = controller.GetPipelineState().GetShaderReflection(rd.ShaderStage.Compute)
        files = [os.path.basename(file.filename) for file in reflection.debugInfo.files]
        for file, at, functions, variables in stepped(controller, 0):
            if 0 <= file < len(files) and files[file] == os.path.basename(shader) and at == line:
                found = variables.get(name)
                print(f"{files[file]}:{at} in {functions}: {variables}")
                if found is not None and abs(found[0] - rounded) < 1e-6:
                    return
    raise AssertionError(f"no vertex has {name} = {value} on line {line}")


def main():
    path, shader, line, name, value = sys.argv[1:]
    rd.InitialiseReplay(rd.GlobalEnvironment(), [])
    file = rd.OpenCaptureFile()
    assert file.OpenFile(path, "", None) == rd.ResultCode.Succeeded, "the capture cannot be opened"
    status, controller = file.OpenCapture(rd.ReplayOptions(), None)
    assert status == rd.ResultCode.Succeeded, f"the capture cannot be replayed: {status}"
    events, structured = check_dispatches(controller, shader)
    check_writes(controller, structured)
    check_stepping(controller, events, shader, int(line), name, float(value))
    controller.Shutdown()
    file.Shutdown()
    rd.ShutdownReplay()


main()
